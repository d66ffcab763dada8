import { asset } from '../../http/assets.ts';

export const STYLESHEET = asset('storefront', 'css');
/** Of pages of one visitor, such as the checkout. */
export const PERSONAL_STYLESHEET = asset('personal', 'css');
/** Of blocks that the built-in pages do not have. */
export const CONTENT_STYLESHEET = asset('content', 'css');
export const SCRIPT = asset('storefront', 'js');
/** Tools for the assistant in a visitor's browser. */
export const PAGE_TOOLS_SCRIPT = asset('page-tools', 'js');
export const PASSKEY_SCRIPT = asset('passkeys', 'js');
