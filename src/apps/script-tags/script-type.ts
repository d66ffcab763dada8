export const SCRIPT_TYPES = ['NORMAL', 'SERVICE_WORKER'] as const;

export type ScriptType = (typeof SCRIPT_TYPES)[number];

/** How the storefront loads a script. The end of the whole address decides, its query included. */
export function scriptType(scriptUrl: string): ScriptType {
  return scriptUrl.endsWith('worker.js') ? 'SERVICE_WORKER' : 'NORMAL';
}
