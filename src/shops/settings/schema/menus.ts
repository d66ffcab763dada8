import { List, LocalisedText, OrElse, Section, WebAddress } from '../fields.ts';

const text = LocalisedText('Text of the entry.', 'Coffee', 80);
const link = WebAddress(
  '^(?:https://[^\\s/]|/[^\\s/\\\\]|/$)\\S*$',
  'Where it leads: the path of a category (/Categories/<alias>), of a product (/Products/<number>), of a page or a post (/pages/<slug>, /posts/<slug>), another path of the shop, or an https address. The entry of a category, product, page or post that is hidden or not published is left out.',
  '/Categories/coffee',
);

const NestedEntry = Section({ text, link });
const Entry = Section({
  text,
  link,
  entries: OrElse(
    [],
    List(NestedEntry, 'Entries below this one.', [{ text: 'Espresso', link: '/Categories/espresso' }], {
      maxItems: 20,
    }),
  ),
});
const EXAMPLE = [{ text: 'Coffee', link: '/Categories/coffee' }];

export const Menus = Section(
  {
    header: OrElse(
      [],
      List(Entry, 'The menu of the header. Absent: the categories.', EXAMPLE, { maxItems: 20 }),
    ),
    footer: OrElse(
      [],
      List(
        Entry,
        'Entries of the footer, before the links that the shop shows by itself: legal texts, withdrawal, newsletter, cookies.',
        EXAMPLE,
        { maxItems: 20 },
      ),
    ),
  },
  { description: 'The menus of header and footer.' },
);
