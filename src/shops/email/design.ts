import type { CacheKind } from '../../db/cache.ts';
import type { Database } from '../../db/database.ts';
import { isDark, mixed, mostVisible, READABLE, sixDigits, visible } from '../../kernel/colour.ts';
import type { Design } from '../../platform/email/letter.ts';
import { isMediaName, type MediaStorage } from '../../platform/media/storage.ts';
import { loadSharp } from '../../platform/media/store-image.ts';
import { BUILT_IN_ACCENT, BUILT_IN_BACKGROUND } from '../settings/theme.ts';
import type { Settings } from '../settings/settings.ts';

/** The logo of a shop as emails carry it, with the size at which it is shown. */
export interface Logo {
  png: Buffer;
  width: number;
  height: number;
}

const GREY = '#5b6573';

/**
 * The colours of a shop's emails. The letter itself stays white with dark text, because email clients invert colours
 * for dark mode in their own ways; the theme shows in the button, the line below the name and the background.
 */
export function emailDesign({ theme }: Pick<Settings, 'theme'>, logo: Design['logo']): Design {
  const accent = sixDigits(theme.accent ?? BUILT_IN_ACCENT);
  const page = sixDigits(theme.background ?? BUILT_IN_BACKGROUND);
  const background = mixed(isDark(page) ? BUILT_IN_BACKGROUND : page, '#000000', 0.05);
  return {
    background,
    muted: visible(GREY, [background], READABLE),
    accent,
    onAccent: mostVisible(['#ffffff', '#000000'], [accent]),
    link: visible(accent, ['#ffffff'], READABLE),
    logo,
    showName: theme.showName ?? false,
  };
}

/** Twice the size at which it is shown, for sharp screens. */
const MAX_PIXELS = { width: 400, height: 96 };
const PIXELS_PER_POINT = 2;
/** A larger file would be too expensive to read for every email. */
const MAX_FILE_SIZE = 5_000_000;

const LOGO_PATH = /^\/media\/([^/]+)\/([^/]+)\/([^/]+\.(?:png|jpe?g|gif))$/;

const logoCache: CacheKind<Logo> = { name: 'logos of emails', limit: { megabytes: 8 } };

/**
 * The logo of a shop, if it is a file of this server: nothing is fetched from elsewhere to send an email. It becomes a
 * small PNG, so that every email stays small. A missing or damaged logo does not delay an email.
 */
export async function loadLogo(
  db: Pick<Database, 'caches'>,
  storage: MediaStorage,
  { logoUrl }: Pick<Settings, 'logoUrl'>,
): Promise<Logo | undefined> {
  const [, shopId = '', folder = '', file = ''] = LOGO_PATH.exec(logoUrl ?? '') ?? [];
  const name = { shopId, folder, file };
  if (!isMediaName(name)) return undefined;
  try {
    const found = await storage.find(name);
    if (!found || found.size === 0 || found.size > MAX_FILE_SIZE) return undefined;
    const cache = db.caches.of(logoCache);
    const key = `${logoUrl} ${found.modifiedAt.getTime()}`;
    const cached = cache.get(key);
    if (cached) return cached;
    const stream = await storage.read(name, { start: 0, end: found.size - 1 });
    if (!stream) return undefined;
    const logo = await toLogo(Buffer.concat((await stream.toArray()) as Buffer[]));
    cache.set(key, logo, logo.png.length);
    return logo;
  } catch {
    return undefined;
  }
}

async function toLogo(bytes: Buffer): Promise<Logo> {
  const sharp = await loadSharp();
  const { data, info } = await sharp(bytes)
    .resize({ ...MAX_PIXELS, fit: 'inside' })
    .png({ palette: true })
    .toBuffer({ resolveWithObject: true });
  return {
    png: data,
    width: Math.round(info.width / PIXELS_PER_POINT),
    height: Math.round(info.height / PIXELS_PER_POINT),
  };
}
