export const podArgument = { description: 'the name of the pod' } as const;

export const containerOption = {
  type: 'string',
  short: 'c',
  placeholder: 'NAME',
  description: 'which of its containers, where there are several',
} as const;
