export const SCRIPT_TYPES = ['NORMAL', 'SERVICE_WORKER'] as const;

export type ScriptType = (typeof SCRIPT_TYPES)[number];

/** How the storefront loads a script; its name says it, and a query behind the name does not count. */
export function scriptType(scriptUrl: string): ScriptType {
  return new URL(scriptUrl).pathname.endsWith('worker.js') ? 'SERVICE_WORKER' : 'NORMAL';
}
