import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFolderStorage } from './folder-storage.ts';
import { imageName } from './image-name.ts';
import { CLASSIFIERS, imagesOf, type Classifier } from './images.ts';
import type { MediaStorage } from './storage.ts';
import { fitted, storeImage, type StoredImage } from './store-image.ts';

let folder: string;
let media: MediaStorage;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), `kontor-test-${process.pid}-`));
  media = openFolderStorage(folder);
});

afterAll(() => rm(folder, { recursive: true }));

/** A picture whose left half is red and whose right half is blue. */
function picture(width: number, height: number, channels: 3 | 4 = 3) {
  const half = Math.ceil(width / 2);
  const blue = { create: { width: half, height, channels, background: 'blue' } } as const;
  return sharp({ create: { width, height, channels, background: 'red' } }).composite([
    { input: blue, left: width - half, top: 0 },
  ]);
}

/** A file whose content can't be compressed to nothing. */
function noise(width: number, height: number) {
  return sharp({
    create: {
      width,
      height,
      channels: 3,
      background: 'grey',
      noise: { type: 'gaussian', mean: 128, sigma: 30 },
    },
  });
}

/** Frames one below the other. */
async function animation(width: number, height: number, frames: number): Promise<Buffer> {
  const pixels = await noise(width, height * frames)
    .raw()
    .toBuffer();
  const raw = { width, height: height * frames, channels: 3, pageHeight: height } as const;
  return sharp(pixels, { raw })
    .gif({ delay: Array.from({ length: frames }, () => 100), effort: 1 })
    .toBuffer();
}

/** An animation whose frames are one pixel each, whatever its size. */
function gif(width: number, height: number, frames: number): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  const frame = Buffer.from('21f904000a0000002c0000000001000100000202440100', 'hex');
  return Buffer.concat([screen, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]);
}

function folderOf({ imageKey }: StoredImage): string {
  return path.join(folder, 'Shop', imageKey);
}

function fileOf(stored: StoredImage, classifier: Classifier): Promise<Buffer> {
  return readFile(path.join(folderOf(stored), stored.sizes[classifier]!.file));
}

/** What a decoder finds in the files, in the order of the classes. */
async function measured(stored: StoredImage) {
  return Promise.all(
    CLASSIFIERS.map(async (classifier) => {
      const bytes = await fileOf(stored, classifier);
      const { format, width, height } = await sharp(bytes).metadata();
      const size = stored.sizes[classifier]!;
      expect(size).toMatchObject({ width, height, bytes: bytes.length });
      return `${classifier} ${format} ${width}x${height} ${size.file}`;
    }),
  );
}

/** Nothing may be left of what was refused. */
async function refusalOf(source: Buffer | string, name: string): Promise<string> {
  const before = await readdir(path.join(folder, 'Shop')).catch(() => []);
  const error: unknown = await storeImage(media, 'Shop', source, name).catch((error: unknown) => error);
  expect(error).toMatchObject({ name: 'HttpError', status: 400 });
  expect(await readdir(path.join(folder, 'Shop')).catch(() => [])).toEqual(before);
  return (error as Error).message;
}

describe('the sizes', () => {
  test.each([
    [1920, 1080, 500, 500, 281],
    [1920, 1080, 149, 149, 84],
    [1920, 1080, 100, 100, 56],
    [1920, 1080, 50, 50, 28],
    [1080, 1920, 500, 281, 500],
    [500, 500, 500, 500, 500],
    [40, 30, 50, 40, 30],
    [4000, 1, 50, 50, 1],
    [1, 4000, 50, 1, 50],
    [5000, 2500, 4000, 4000, 2000],
  ])('%i x %i in a square of %i is %i x %i', (width, height, box, ...[fitWidth, fitHeight]) => {
    expect(fitted({ width, height }, box)).toEqual({ width: fitWidth, height: fitHeight });
  });

  test('of a photo, in its own format', async () => {
    const stored = await storeImage(
      media,
      'Shop',
      await picture(1920, 1080).jpeg().toBuffer(),
      'Möwe am Meer.JPG',
    );
    expect(await measured(stored)).toEqual([
      'Thumbnail jpeg 50x28 Mowe-am-Meer_xs.jpg',
      'Small jpeg 100x56 Mowe-am-Meer_s.jpg',
      'HotDeal jpeg 149x84 Mowe-am-Meer_h.jpg',
      'MediumSmall jpeg 200x113 Mowe-am-Meer_ms.jpg',
      'Medium jpeg 500x281 Mowe-am-Meer_m.jpg',
      'MediumLarge jpeg 800x450 Mowe-am-Meer_ml.jpg',
      'Large jpeg 1920x1080 Mowe-am-Meer.jpg',
    ]);
    expect((await readdir(folderOf(stored))).length).toBe(7);
  });

  test('of a small image: its own pixels, never more', async () => {
    const original = await picture(60, 40, 4).png().toBuffer();
    const stored = await storeImage(media, 'Shop', original, 'dot.png');
    expect(await measured(stored)).toEqual([
      'Thumbnail png 50x33 dot_xs.png',
      'Small png 60x40 dot_s.png',
      'HotDeal png 60x40 dot_h.png',
      'MediumSmall png 60x40 dot_ms.png',
      'Medium png 60x40 dot_m.png',
      'MediumLarge png 60x40 dot_ml.png',
      'Large png 60x40 dot.png',
    ]);
    const pixels = (bytes: Buffer) => sharp(bytes).raw().toBuffer();
    expect(await pixels(await fileOf(stored, 'Medium'))).toEqual(await pixels(original));
  });

  test('an image of more than 4000 pixels a side is made smaller', async () => {
    const stored = await storeImage(media, 'Shop', await picture(4500, 900).jpeg().toBuffer(), 'wide.jpeg');
    expect((await measured(stored)).at(-1)).toBe('Large jpeg 4000x800 wide.jpeg');
  });

  test('from a file as from bytes', async () => {
    const place = path.join(folder, 'upload');
    await writeFile(place, await picture(300, 200).png().toBuffer());
    const stored = await storeImage(media, 'Shop', place, 'from-file.png');
    expect((await measured(stored)).at(-1)).toBe('Large png 300x200 from-file.png');
  });

  test('16 bits a colour, grey and CMYK can be shown everywhere afterwards', async () => {
    const deep = await picture(90, 60).toColourspace('rgb16').png().toBuffer();
    expect(await measured(await storeImage(media, 'Shop', deep, 'deep.png'))).toHaveLength(7);
    const grey = await picture(900, 600).greyscale().jpeg().toBuffer();
    expect(await measured(await storeImage(media, 'Shop', grey, 'grey.jpg'))).toHaveLength(7);
    const inks = await picture(900, 600).toColourspace('cmyk').jpeg().toBuffer();
    expect((await sharp(inks).metadata()).space).toBe('cmyk');
    const stored = await storeImage(media, 'Shop', inks, 'inks.jpg');
    expect((await sharp(await fileOf(stored, 'Large')).metadata()).space).toBe('srgb');
  });

  test('an animation goes on moving in its large size', async () => {
    const original = await animation(120, 90, 4);
    const stored = await storeImage(media, 'Shop', original, 'wink.gif');
    expect(await measured(stored)).toEqual(
      expect.arrayContaining(['Small gif 100x75 wink_s.gif', 'Large gif 120x90 wink.gif']),
    );
    expect(await fileOf(stored, 'Large')).toEqual(original);
    const wide = await storeImage(media, 'Shop', await animation(4100, 4, 2), 'wide.gif');
    expect(wide.sizes.Large).toMatchObject({ width: 4000, height: 4 });
    expect((await sharp(await fileOf(wide, 'Large'), { animated: true }).metadata()).pages).toBe(2);
    expect((await sharp(await fileOf(stored, 'Small')).metadata()).pages).toBe(1);
  });
});

test('a photo stands upright, and what its camera noted is gone', async () => {
  const photo = await picture(300, 200)
    .jpeg()
    .withExif({
      IFD0: { Copyright: 'Somebody' },
      IFD3: { GPSLatitude: '54/1 19/1 0/1', GPSLatitudeRef: 'N' },
    })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  expect(photo.includes('Somebody')).toBe(true);
  const stored = await storeImage(media, 'Shop', photo, 'photo.jpg');
  expect(await measured(stored)).toEqual(
    expect.arrayContaining(['Large jpeg 200x300 photo.jpg', 'Small jpeg 67x100 photo_s.jpg']),
  );
  for (const classifier of CLASSIFIERS) {
    const bytes = await fileOf(stored, classifier);
    const { orientation, exif } = await sharp(bytes).metadata();
    expect([orientation, exif, bytes.includes('Somebody')]).toEqual([undefined, undefined, false]);
  }
  // The left half, which was red, is at the top now.
  const pixels = await sharp(await fileOf(stored, 'Large'))
    .raw()
    .toBuffer();
  expect(pixels[0]).toBeGreaterThan(200);
  expect(pixels.at(-1)).toBeGreaterThan(200);
});

test('what is hidden behind the pixels is not kept', async () => {
  const page = Buffer.concat([
    await picture(60, 40).png().toBuffer(),
    Buffer.from('<script>alert(1)</script>'),
  ]);
  const stored = await storeImage(media, 'Shop', page, 'page.png');
  for (const classifier of CLASSIFIERS) {
    expect((await fileOf(stored, classifier)).includes('script')).toBe(false);
  }
});

describe('an icon', () => {
  const entry = (size: number, bytes: Buffer, offset: number) => {
    const head = Buffer.alloc(16);
    head.writeUInt8(size % 256, 0);
    head.writeUInt8(size % 256, 1);
    head.writeUInt32LE(bytes.length, 8);
    head.writeUInt32LE(offset, 12);
    return head;
  };
  const iconOf = (...pictures: { size: number; bytes: Buffer }[]) => {
    const head = Buffer.from([0, 0, 1, 0, pictures.length, 0]);
    let offset = 6 + 16 * pictures.length;
    const entries = pictures.map(({ size, bytes }) => {
      const one = entry(size, bytes, offset);
      offset += bytes.length;
      return one;
    });
    return Buffer.concat([head, ...entries, ...pictures.map(({ bytes }) => bytes)]);
  };
  const bitmap = (size: number, bits: number) => {
    const head = Buffer.alloc(40);
    head.writeUInt32LE(40, 0);
    head.writeInt32LE(size, 4);
    head.writeInt32LE(2 * size, 8);
    head.writeUInt16LE(1, 12);
    head.writeUInt16LE(bits, 14);
    const row = Math.ceil((size * bits) / 32) * 4;
    const mask = Math.ceil(size / 32) * 4;
    return Buffer.concat([
      head,
      Buffer.alloc(bits > 8 ? 0 : 4 * 2 ** bits),
      Buffer.alloc((row + mask) * size),
    ]);
  };

  test('is kept as it is, and has no other size', async () => {
    const icon = iconOf(
      { size: 16, bytes: bitmap(16, 8) },
      { size: 32, bytes: bitmap(32, 32) },
      { size: 256, bytes: await picture(256, 256, 4).png().toBuffer() },
    );
    const stored = await storeImage(media, 'Shop', icon, 'shop.ico');
    expect(stored.sizes).toEqual({
      Thumbnail: null,
      Small: null,
      HotDeal: null,
      MediumSmall: null,
      Medium: null,
      MediumLarge: null,
      Large: { file: 'shop.ico', width: 256, height: 256, bytes: icon.length },
    });
    expect(await fileOf(stored, 'Large')).toEqual(icon);
  });

  test('that is none, or is cut off, is refused', async () => {
    const png = await noise(64, 64).png().toBuffer();
    const whole = iconOf({ size: 64, bytes: png });
    for (const icon of [
      whole.subarray(0, 4),
      whole.subarray(0, 10),
      whole.subarray(0, -1),
      iconOf(),
      iconOf(...Array.from({ length: 65 }, () => ({ size: 64, bytes: png }))),
      iconOf({ size: 64, bytes: await picture(1_025, 1_025).png().toBuffer() }),
      iconOf({ size: 64, bytes: png.subarray(0, 3_000) }),
      iconOf({ size: 16, bytes: bitmap(16, 32).subarray(0, 500) }),
      iconOf({ size: 16, bytes: bitmap(16, 7) }),
      iconOf({ size: 16, bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') }),
    ]) {
      expect(await refusalOf(icon, 'shop.ico')).toBe('The image is damaged or cut off');
    }
    expect(await refusalOf(Buffer.alloc(0), 'shop.ico')).toBe(
      'The file is no ICO image, but its name says so',
    );
  });
});

describe('refused by its content:', () => {
  test.each(['png', 'jpeg', 'gif'] as const)('a %s that is cut off', async (format) => {
    const whole = await noise(200, 150).toFormat(format).toBuffer();
    for (const length of [30, 200, Math.floor(whole.length / 2), whole.length - 100]) {
      expect(await refusalOf(whole.subarray(0, length), `cut.${format}`)).toBe(
        'The image is damaged or cut off',
      );
    }
  });

  test.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 'x.png', 'PNG'],
    ['a page', '<!doctype html><script>alert(1)</script>', 'x.jpg', 'JPEG'],
    ['nothing', '', 'x.gif', 'GIF'],
    ['text', 'GIF8', 'x.gif', 'GIF'],
  ])('%s', async (_case, content, name, kind) => {
    expect(await refusalOf(Buffer.from(content), name)).toBe(
      `The file is no ${kind} image, but its name says so`,
    );
  });

  test('an image of another kind than its name says', async () => {
    const kinds = { png: 'PNG', jpg: 'JPEG', gif: 'GIF' };
    for (const [extension, kind] of Object.entries(kinds)) {
      for (const format of ['png', 'jpeg', 'gif', 'webp', 'tiff', 'avif'] as const) {
        if (format.toUpperCase() === kind) continue;
        const bytes = await picture(20, 20).toFormat(format).toBuffer();
        expect(await refusalOf(bytes, `x.${extension}`)).toBe(
          `The file is no ${kind} image, but its name says so`,
        );
      }
    }
  });

  test('more pixels than a small file should hold', async () => {
    const bomb = await sharp({ create: { width: 9_000, height: 6_000, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const tooMany = 'The image has more than 50 megapixels, over all of its frames';
    expect(await refusalOf(bomb, 'bomb.png')).toBe(tooMany);
    // The same size, claimed by a head with nothing behind it.
    const claim = Buffer.from(bomb.subarray(0, 60));
    expect(await refusalOf(claim, 'bomb.png')).toMatch(/damaged|megapixels/);
    expect(await refusalOf(gif(1_000, 1_000, 51), 'bomb.gif')).toBe(tooMany);
  });

  test('bytes at random', async () => {
    const whole = await noise(60, 60).png().toBuffer();
    for (let at = 8; at < whole.length; at += 97) {
      const broken = Buffer.from(whole);
      broken[at]! ^= 0xff;
      const stored = await storeImage(media, 'Shop', broken, 'broken.png').catch((error: unknown) => error);
      if (!(stored instanceof Error)) continue;
      expect(stored).toMatchObject({ status: 400 });
    }
  });
});

describe('the name', () => {
  test.each([
    ['lamp.png', 'lamp_xs.png'],
    ['Lamp.JPG', 'Lamp_xs.jpg'],
    ['a b+c.jpeg', 'a-b-c_xs.jpeg'],
    ['..png.gif', 'png_xs.gif'],
    ['.hidden.ico', 'hidden_xs.ico'],
    ['__x.png', 'x_xs.png'],
    ['灯.png', 'image_xs.png'],
    ['%2e%2e%2fetc.png', '2e-2e-2fetc_xs.png'],
    [`${'x'.repeat(116)}.png`, `${'x'.repeat(90)}_xs.png`],
  ])('%s is the file %s', (name, file) => {
    expect(imageName(name).fileOf('_xs')).toBe(file);
  });

  test.each([
    '',
    '.',
    '..',
    '.png',
    '..png',
    '....png',
    '---.png',
    '_.png',
    ' .png',
    '\u0301.png',
    'png',
    'x.svg',
    'x.png.exe',
    'x.webp',
    'x.png ',
    'x.png\0',
    '\0.png',
    'a\nb.png',
    'a/b.png',
    '../b.png',
    '..\\b.png',
    'C:\\b.png',
    '/etc/b.png',
    'a\u0085.png',
    '\ud800.png',
    `${'x'.repeat(117)}.png`,
  ])('%j is refused', async (name) => {
    expect(await refusalOf(await picture(4, 4).png().toBuffer(), name)).toMatch(/^The name of an image /);
  });
});

test('images of a product: five sizes in their order, those that exist', async () => {
  const { imageKey, sizes } = await storeImage(
    media,
    'Shop',
    await picture(60, 40).png().toBuffer(),
    'a.png',
  );
  const shown = imagesOf(
    'http://h',
    'Shop',
    imageKey.toLowerCase(),
    { ...sizes, Medium: null },
    { isZoomEnabled: true },
  );
  expect(shown.map(({ classifier, url, width }) => [classifier, url, width])).toEqual([
    ['HotDeal', `http://h/media/Shop/${imageKey}/a_h.png`, 60],
    ['Large', `http://h/media/Shop/${imageKey}/a.png`, 60],
    ['Small', `http://h/media/Shop/${imageKey}/a_s.png`, 60],
    ['Thumbnail', `http://h/media/Shop/${imageKey}/a_xs.png`, 50],
  ]);
  expect(Object.keys(shown[0]!)).toEqual([
    'url',
    'classifier',
    'isZoomEnabled',
    'width',
    'height',
    'fileSize',
  ]);
  expect(shown[0]).toMatchObject({ isZoomEnabled: true, height: 40, fileSize: sizes.HotDeal!.bytes });
});
