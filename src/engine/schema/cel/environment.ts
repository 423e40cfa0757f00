import { Environment } from '@marcbachmann/cel-js';
import { registerComprehensions } from './library/comprehensions.ts';
import { registerConversions } from './library/conversions.ts';
import { registerLists } from './library/lists.ts';
import { registerNamedFormats } from './library/named-formats.ts';
import { registerNetwork } from './library/network.ts';
import { registerOptionals } from './library/optionals.ts';
import { registerQuantity } from './library/quantity.ts';
import { registerText } from './library/text.ts';
import { registerUrl } from './library/url.ts';

/** Rules longer than this are nobody's. */
export const MAX_EXPRESSION = 100_000;

let base: Environment | undefined;

/** CEL with everything that Kubernetes adds to it, ready for the types and variables of one schema. */
export function newEnvironment(): Environment {
  base ??= baseEnvironment();
  return base.clone();
}

function baseEnvironment(): Environment {
  const env = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: true,
    unlistedVariablesAreDyn: false,
    limits: { maxAstNodes: 20_000, maxDepth: 100 },
  });
  registerConversions(env);
  registerComprehensions(env);
  registerLists(env);
  registerNamedFormats(env);
  registerNetwork(env);
  registerOptionals(env);
  registerQuantity(env);
  registerText(env);
  registerUrl(env);
  return env;
}
