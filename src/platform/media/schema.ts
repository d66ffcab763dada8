import { Type } from 'typebox';
import { Nullable } from '../../http/schemas.ts';
import { CLASSIFIERS } from './images.ts';

const address = {
  description: 'Address of the file. It never changes, so it may be kept for ever.',
  examples: ['https://shop.example/media/DemoShop/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E/lamp_m.jpg'],
};
const Zoom = Type.Boolean({ description: 'Whether a page may enlarge it.', examples: [true] });
const Size = Type.Enum(CLASSIFIERS, { description: 'The size.', examples: ['Medium'] });

/** An image in one size, as products, categories and carts show it. */
export const Image = Type.Object(
  {
    url: Type.String(address),
    classifier: Size,
    isZoomEnabled: Zoom,
    width: Type.Integer({ description: 'Pixels.', examples: [500] }),
    height: Type.Integer({ description: 'Pixels.', examples: [281] }),
    fileSize: Type.Integer({ description: 'Bytes.', examples: [41_234] }),
  },
  { title: 'image' },
);

const ImageSize = Type.Object(
  {
    url: Nullable(
      Type.String({ ...address, description: 'Address of the file; null: there is no such size.' }),
    ),
    classifier: Size,
    isZoomEnabled: Zoom,
  },
  { title: 'image size' },
);

/** An image of a slideshow. */
export const ImageInfo = Type.Object(
  {
    name: Type.String({ description: 'Name of the uploaded file.', examples: ['lamp.jpg'] }),
    sizes: Type.Array(ImageSize, { description: 'All sizes, the smallest first.' }),
  },
  { title: 'imageInfo' },
);
