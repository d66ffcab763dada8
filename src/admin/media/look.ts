import type { LibraryPicture } from '../../catalogue/media/queries.ts';
import { imagePath, imageUrl, type Classifier } from '../../platform/media/images.ts';
import { settingsAsFile } from '../../shops/settings/conversion.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { ShopVisit } from '../visit.ts';

/** The settings that name a picture. */
export const PICTURE_PLACES = ['logo', 'home'] as const;
export type PicturePlace = (typeof PICTURE_PLACES)[number];

export const isPicturePlace = (text: string): text is PicturePlace =>
  (PICTURE_PLACES as readonly string[]).includes(text);

/** The page of the settings that shows the picture. */
export const PLACE_PATHS: Readonly<Record<PicturePlace, string>> = {
  logo: '/settings/theme',
  home: '/settings/home',
};

/** The setting that holds the address of each picture. */
export const PLACE_SETTINGS: Readonly<Record<PicturePlace, string>> = {
  logo: 'logoUrl',
  home: 'home.picture',
};

/** A logo is small; the picture of the front page is as wide as the page. */
const SIZES: Readonly<Record<PicturePlace, readonly Classifier[]>> = {
  logo: ['Medium', 'Large'],
  home: ['Large', 'MediumLarge'],
};

export const THUMBNAIL: readonly Classifier[] = ['MediumSmall', 'Small', 'Large'];

/** The path of the first of these sizes that exists. */
export function pathOfPicture(
  { origin, shopId }: Pick<ShopVisit, 'origin' | 'shopId'>,
  { imageKey, sizes }: Pick<LibraryPicture, 'imageKey' | 'sizes'>,
  classifiers: readonly Classifier[],
): string {
  const file = classifiers.map((classifier) => sizes[classifier]).find(Boolean);
  return file ? imagePath(imageUrl(origin, shopId, imageKey, file.file)) : '';
}

export function addressAt({ logoUrl, home }: Settings, place: PicturePlace): string | null {
  return place === 'logo' ? logoUrl : home.picture;
}

/** Where the settings show a picture. */
export function placesOf(
  { settings }: ShopVisit,
  { imageKey }: Pick<LibraryPicture, 'imageKey'>,
): PicturePlace[] {
  return PICTURE_PLACES.filter((place) => addressAt(settings, place)?.includes(`/${imageKey}/`));
}

/** The sections of the settings with another picture at a place; undefined: with none. */
export function settingsWithPicture(
  visit: ShopVisit,
  place: PicturePlace,
  picture: Pick<LibraryPicture, 'imageKey' | 'sizes'> | undefined,
): SettingsFile {
  const path = picture ? pathOfPicture(visit, picture, SIZES[place]) : null;
  if (place === 'logo') return { logoUrl: path };
  const { picture: _replaced, ...home } = settingsAsFile(visit.settings, { textsByLocale: true }).home ?? {};
  return { home: { ...home, ...(path !== null && { picture: path }) } };
}
