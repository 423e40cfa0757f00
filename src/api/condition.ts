import { type Infer, list, object, oneOf, optional, string, timestamp } from './shape.ts';

/** One statement about an object: `status` says whether it holds, `message` says in a sentence why (not). */
export const conditionShape = object({
  type: string({ description: 'What the condition is about, in CamelCase.' }),
  status: oneOf(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' }),
  severity: optional(
    oneOf(['Error', 'Warning', 'Info', ''], { description: 'How bad it is that the condition does not hold.' }),
  ),
  lastTransitionTime: timestamp({ description: 'When the condition last changed.' }),
  reason: optional(string({ description: 'Why, in one CamelCase word.' })),
  message: optional(string({ description: 'Why, in a sentence for people.' })),
});
export type Condition = Infer<typeof conditionShape>;

export const conditionsShape = list(conditionShape, {
  description: 'What is true of this object: Ready first, the others by type.',
});
