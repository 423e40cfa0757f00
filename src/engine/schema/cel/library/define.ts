import type { Environment } from '@marcbachmann/cel-js';
import type { Macro, MacroCall } from '../ast.ts';

export type Define = (signature: string, handler: (...args: never[]) => unknown) => void;

/** Functions of ours answer at once: saying so spares the evaluator the question. */
export const definer =
  (env: Environment): Define =>
  (signature, handler) => {
    env.registerFunction(signature, handler, { async: false });
  };

export type DefineMacro = (signature: string, expand: (call: MacroCall) => Macro) => void;

/** In the signature of a macro, arguments that it evaluates itself are of type `ast`. */
export const macroDefiner =
  (env: Environment): DefineMacro =>
  (signature, expand) => {
    env.registerFunction(signature, expand, { async: false });
  };

/** Registers the name before the dot of functions like `sets.contains`; answers with the type that stands for it. */
export function namespace(env: Environment, name: string): string {
  const type = `${name}Namespace`;
  class Namespace {}
  env.registerType(type, Namespace).registerConstant(name, type, new Namespace());
  return type;
}
