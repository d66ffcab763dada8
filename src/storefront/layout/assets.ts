import { asset } from '../../http/assets.ts';

export const STYLESHEET = asset('storefront', 'css');
export const SCRIPT = asset('storefront', 'js');
export const PASSKEY_SCRIPT = asset('passkeys', 'js');
