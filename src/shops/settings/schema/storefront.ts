import { Type } from 'typebox';
import {
  Colour,
  Flag,
  WEB_ADDRESS,
  WebAddress,
  List,
  OrElse,
  OrNull,
  Section,
  LINES_OF_TEXT,
  LocalisedText,
} from '../fields.ts';
import { MAX_CSS_LENGTH } from '../custom-css.ts';

/** Fonts that are installed on most machines. */
export const FONTS = ['sans', 'serif', 'rounded', 'mono'] as const;

export const CORNERS = ['sharp', 'soft', 'round'] as const;
export const DENSITIES = ['compact', 'normal', 'airy'] as const;
export const HEADERS = ['plain', 'tinted', 'line'] as const;
export const CARDS = ['plain', 'framed', 'raised'] as const;

export const Theme = Section(
  {
    accent: Type.Optional(
      Colour(
        'Colour of buttons and links, #rgb or #rrggbb in quotes; where it would be hard to read, a darker or lighter one is used. Absent: a dark teal.',
        '#0b5d66',
      ),
    ),
    background: Type.Optional(
      Colour('Colour of the page, #rgb or #rrggbb in quotes. Absent: white.', '#fdfcf9'),
    ),
    text: Type.Optional(
      Colour(
        'Colour of the text, #rgb or #rrggbb in quotes, with a contrast of 4.5:1 or more on the background. Absent: one that reads well on it.',
        '#1d2b2e',
      ),
    ),
    font: Type.Optional(
      Type.Enum([...FONTS], {
        description: 'A font that people have on their machines. Absent: sans.',
        examples: ['serif'],
      }),
    ),
    fontUrl: Type.Optional(
      Type.String({
        // Only characters that can't end the address in a stylesheet or in a header's list.
        format: WEB_ADDRESS,
        pattern: '^(?:https:/)?/[\\w.~%-][\\w./~%:?&=@+-]*$',
        maxLength: 2000,
        description:
          'A font of your own: the https address of a woff2 file, or a path on this server. Until it is loaded, and where it lacks a letter, font stands in.',
        examples: ['https://shop.example/own.woff2'],
      }),
    ),
    corners: Type.Optional(
      Type.Enum([...CORNERS], {
        description: 'The corners of fields, pictures and boxes. Absent: soft.',
        examples: ['round'],
      }),
    ),
    density: Type.Optional(
      Type.Enum([...DENSITIES], {
        description: 'The space between the parts of a page. Absent: normal.',
        examples: ['airy'],
      }),
    ),
    header: Type.Optional(
      Type.Enum([...HEADERS], {
        description:
          'plain: a header like the page. tinted: a little of the accent colour in its background. line: a line in the accent colour below it. Absent: plain.',
        examples: ['tinted'],
      }),
    ),
    cards: Type.Optional(
      Type.Enum([...CARDS], {
        description:
          'Products in lists. plain: without a frame. framed: with a line around each. raised: on a ground of their own, with a shadow. Absent: plain.',
        examples: ['framed'],
      }),
    ),
    css: Type.Optional(
      Type.String({
        maxLength: MAX_CSS_LENGTH,
        pattern: LINES_OF_TEXT,
        description:
          'Rules of a stylesheet for the main part of the front page, categories, products and pages. Selectors are names of elements and classes; properties are those of text, boxes and layout. Nothing can be loaded, placed over other parts, or changed in header, footer, cart and checkout.',
        examples: ['h2 { letter-spacing: 0.02em; color: var(--accent) }'],
      }),
    ),
    showName: Type.Optional(
      Type.Boolean({
        description: 'The name of the shop stands beside the logo, which does not hold it. Absent: false.',
        examples: [true],
      }),
    ),
  },
  { description: 'The look of the storefront. The logo is logoUrl.' },
);

export const AppScripts = Section(
  {
    load: Flag('Pages load the scripts of apps, for visitors who allow it.', true),
    necessary: OrElse(
      [],
      List(
        WebAddress(
          '^https://\\S+$',
          'Address of a script, as its script tag has it.',
          'https://widgets.example/consent.js',
        ),
        'Scripts that are loaded for visitors who allow only what is necessary, and before they were asked. The app must call the script necessary too.',
        ['https://widgets.example/consent.js'],
        { maxItems: 20 },
      ),
    ),
  },
  { description: 'The scripts that apps bring into the pages of the shop.' },
);

export const Home = Section(
  {
    picture: OrNull(
      WebAddress(
        '^(?:https:/)?/[^\\s/]\\S*$',
        'URL of the cover image, https, or a path on this server.',
        'https://shop.example/harbour.jpg',
      ),
    ),
    title: OrElse(
      {},
      LocalisedText('Headline. Absent: the name of the shop.', 'Small things from the seaside'),
    ),
    text: OrElse({}, LocalisedText('Subtitle. Absent: the slogan.', 'Roasted a street away.', 500)),
    link: OrNull(
      WebAddress(
        '^(?:https://[^\\s/]|/[^\\s/\\\\]|/$)\\S*$',
        'Link of the button: a path of the shop, or an https address. Absent: there is no button.',
        '/Categories/coffee',
      ),
    ),
    linkText: OrElse(
      {},
      LocalisedText('Text of the button. Absent: the built-in one.', 'See our coffee', 60),
    ),
    promises: OrElse(
      [],
      List(
        LocalisedText('A few words.', 'Free returns for 30 days', 80),
        'Benefits, in one line below the picture.',
        ['Free returns for 30 days', 'Sent within two days'],
        { maxItems: 4 },
      ),
    ),
  },
  { description: 'The top of the front page.' },
);

export const Feeds = Section(
  {
    google: Flag('Google Merchant Center may fetch the products, at /feeds/google.xml of the shop.', false),
    agenticCommerce: Flag(
      'Assistants such as ChatGPT may fetch the products, at /feeds/acp.jsonl of the shop (Agentic Commerce Protocol).',
      false,
    ),
  },
  { description: 'Product feeds for other channels. They hold what visitors of the shop see.' },
);
