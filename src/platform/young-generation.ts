import { setFlagsFromString } from 'node:v8';

/**
 * bin/kontor.js limits V8's young generation while the modules are loaded, because an idle process would keep for ever
 * what that takes. Work that goes on for longer needs a larger one, or garbage is collected all the time.
 */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
