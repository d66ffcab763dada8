import type { Localised } from '../../http/locale.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';

/*
 * What Harbour & Hearth sells. Each product shows something: a base price, a deposit, a tier, an empty shelf. Money
 * in cents, weights in grams, moments in days before the shop was made.
 */

/** French is spoken here and there only, so that one sees what happens where a text is missing. */
const say = (en: string, de: string, fr?: string): Localised => ({
  en_GB: en,
  de_DE: de,
  ...(fr === undefined ? {} : { fr_FR: fr }),
});

const euro = (cents: number) => ({ EUR: cents });

export interface DemoCategory {
  alias: string;
  name: Localised;
  /** null: the root, which every shop has. */
  parent: string | null;
  description?: Localised;
  visible?: false;
  visibleInNavigation?: false;
  specialOffer?: true;
}

/** Brothers and sisters in the order in which they are shown. */
export const demoCategories: DemoCategory[] = [
  { alias: 'Categories', name: say('Home page', 'Startseite', 'Accueil'), parent: null },
  {
    alias: 'coffee',
    name: say('Coffee', 'Kaffee', 'Café'),
    parent: 'Categories',
    description: say(
      '<p>Roasted in small batches, a street away from the quay.</p>',
      '<p>In kleinen Mengen geröstet, eine Straße vom Kai entfernt.</p>',
    ),
  },
  { alias: 'beans', name: say('Beans', 'Bohnen', 'En grains'), parent: 'coffee' },
  { alias: 'ground', name: say('Ground coffee', 'Gemahlen', 'Moulu'), parent: 'coffee' },
  {
    alias: 'tea',
    name: say('Tea', 'Tee', 'Thé'),
    parent: 'Categories',
    description: say('<p>Loose leaves for foggy days.</p>', '<p>Lose Blätter für neblige Tage.</p>'),
  },
  { alias: 'green', name: say('Green tea', 'Grüner Tee', 'Thé vert'), parent: 'tea' },
  { alias: 'black', name: say('Black and herbal tea', 'Schwarz- und Kräutertee'), parent: 'tea' },
  {
    alias: 'drinks',
    name: say('Cold drinks', 'Kaltgetränke', 'Boissons fraîches'),
    parent: 'Categories',
    specialOffer: true,
  },
  { alias: 'kitchen', name: say('Kitchen', 'Küche', 'Cuisine'), parent: 'Categories' },
  { alias: 'knives', name: say('Knives', 'Messer', 'Couteaux'), parent: 'kitchen' },
  { alias: 'appliances', name: say('Appliances', 'Geräte'), parent: 'kitchen' },
  { alias: 'lamps', name: say('Lamps', 'Leuchten', 'Luminaires'), parent: 'Categories' },
  { alias: 'books', name: say('Books and audio', 'Bücher und Audio'), parent: 'Categories' },
  { alias: 'gifts', name: say('Gifts', 'Geschenke', 'Cadeaux'), parent: 'Categories' },
  { alias: 'archive', name: say('Archive', 'Archiv'), parent: 'Categories', visible: false },
  { alias: 'press', name: say('Press', 'Presse'), parent: 'Categories', visibleInNavigation: false },
];

export interface DemoProductType {
  alias: string;
  name: Localised;
  attributes: { key: string; name: Localised; values: [value: string, name: Localised][] }[];
}

export const demoProductTypes: DemoProductType[] = [
  {
    alias: 'Coffee',
    name: say('Coffee', 'Kaffee', 'Café'),
    attributes: [
      {
        key: 'Weight',
        name: say('Weight', 'Gewicht', 'Poids'),
        values: [
          ['250 g', say('250 g', '250 g')],
          ['500 g', say('500 g', '500 g')],
          ['1 kg', say('1 kg', '1 kg')],
        ],
      },
      {
        key: 'Roast',
        name: say('Roast', 'Röstung', 'Torréfaction'),
        values: [
          ['Medium', say('Medium', 'Mittel', 'Moyenne')],
          ['Dark', say('Dark', 'Dunkel', 'Foncée')],
        ],
      },
    ],
  },
  {
    alias: 'Knife',
    name: say('Knife', 'Messer', 'Couteau'),
    attributes: [
      {
        key: 'Blade',
        name: say('Blade', 'Klinge', 'Lame'),
        values: [
          ['16 cm', say('16 cm', '16 cm')],
          ['20 cm', say('20 cm', '20 cm')],
        ],
      },
    ],
  },
  {
    alias: 'Lamp',
    name: say('Lamp', 'Leuchte', 'Luminaire'),
    attributes: [
      {
        key: 'Colour',
        name: say('Colour', 'Farbe', 'Couleur'),
        values: [
          ['Brass', say('Brass', 'Messing', 'Laiton')],
          ['Slate', say('Slate', 'Schiefer', 'Ardoise')],
        ],
      },
      {
        key: 'Size',
        name: say('Size', 'Größe', 'Taille'),
        values: [
          ['Small', say('Small', 'Klein', 'Petit')],
          ['Large', say('Large', 'Groß', 'Grand')],
        ],
      },
    ],
  },
  {
    alias: 'Board',
    name: say('Board', 'Brett', 'Planche'),
    attributes: [
      {
        key: 'Wood',
        name: say('Wood', 'Holz', 'Bois'),
        values: [
          ['Oak', say('Oak', 'Eiche', 'Chêne')],
          ['Ash', say('Ash', 'Esche', 'Frêne')],
        ],
      },
      {
        key: 'Finish',
        name: say('Finish', 'Oberfläche', 'Finition'),
        values: [
          ['Oil', say('Oil', 'Öl', 'Huile')],
          ['Wax', say('Wax', 'Wachs', 'Cire')],
        ],
      },
    ],
  },
];

export interface DemoProduct {
  number: string;
  /** Of a variation, with the values that it was chosen by. */
  master?: string;
  selection?: Readonly<Record<string, string>>;
  /** Alias of its type; absent: the default one. */
  type?: string;
  /** The first is the main one; variations are where their master is. */
  categories?: string[];
  visible?: false;
  /** Absent: the master's. */
  price?: number;
  /** What was asked before, until so many days ago; the first price is the oldest. */
  formerPrices?: { price: number; days: number }[];
  /** Key of the tax class; absent: the master's, else the standard one. */
  tax?: 'none' | 'standard' | 'reduced' | 'digital' | 'ebooks';
  /** What is there, and from when on it is little; absent: nobody counts. */
  stock?: [stock: number, warning: number];
  weight?: number;
  groups?: { name: string; discount: number; tiers: [quantity: string, price: number][] }[];
  /** Keys of the only shipping methods. */
  shipping?: string[];
  /** Days from now on that it is new. */
  newFor?: number;
  crossSelling?: string[];
  watchers?: number;
  /** Days ago. */
  changed?: { attributes?: number; stock?: number };
  /** Energy classes, and the best one of the scale. */
  energy?: [classes: string, best: string];
  hasDataSheet?: true;
  facts: ProductFacts;
}

type Words = [short: string, long: string];

/** The texts of a product in English and German. */
function texts(name: Localised, [short, long]: Words, [kurz, lang]: Words): ProductFacts {
  return {
    name,
    shortDescription: say(short, kurz),
    description: say(`<p>${long}</p>`, `<p>${lang}</p>`),
  };
}

const grams = (content: number): ProductFacts => ({ reference: { amount: 100, unit: 'gram', content } });
const litres = (content: number): ProductFacts => ({ reference: { amount: 1, unit: 'litre', content } });

export const demoProducts: DemoProduct[] = [
  {
    number: 'CB-100',
    type: 'Coffee',
    categories: ['beans'],
    price: 990,
    tax: 'reduced',
    facts: {
      ...texts(
        say('Tidewater Espresso Beans', 'Tidewater Espressobohnen', 'Café en grains Tidewater Espresso'),
        [
          'Round and chocolaty, with little acid.',
          'A blend of Brazilian and Indian beans, roasted slowly. It makes a thick crema and forgives a hasty hand.',
        ],
        [
          'Rund und schokoladig, mit wenig Säure.',
          'Eine Mischung aus brasilianischen und indischen Bohnen, langsam geröstet. Sie gibt eine dichte Crema und verzeiht eine eilige Hand.',
        ],
      ),
      essentialFeatures: say(
        '70 % arabica, 30 % robusta, roasted every Tuesday',
        '70 % Arabica, 30 % Robusta, jeden Dienstag geröstet',
      ),
      manufacturer: 'Tidewater Roasters',
      variationAttributes: [
        { key: 'Weight', values: ['250 g', '500 g', '1 kg'] },
        { key: 'Roast', values: ['Medium', 'Dark'] },
      ],
    },
  },
  {
    number: 'CB-101',
    master: 'CB-100',
    selection: { Weight: '250 g', Roast: 'Medium' },
    price: 990,
    stock: [120, 20],
    weight: 260,
    changed: { stock: 2 },
    facts: grams(250),
  },
  {
    number: 'CB-102',
    master: 'CB-100',
    selection: { Weight: '500 g', Roast: 'Medium' },
    price: 1750,
    stock: [64, 20],
    weight: 520,
    changed: { stock: 2 },
    facts: grams(500),
  },
  {
    number: 'CB-103',
    master: 'CB-100',
    selection: { Weight: '1 kg', Roast: 'Medium' },
    price: 3100,
    stock: [8, 10],
    weight: 1040,
    facts: grams(1000),
  },
  {
    number: 'CB-104',
    master: 'CB-100',
    selection: { Weight: '250 g', Roast: 'Dark' },
    price: 1040,
    stock: [0, 5],
    weight: 260,
    watchers: 3,
    facts: grams(250),
  },
  {
    number: 'CB-200',
    categories: ['ground'],
    price: 1280,
    tax: 'reduced',
    stock: [210, 25],
    weight: 515,
    groups: [
      {
        name: 'Cafes',
        discount: 500,
        tiers: [
          ['1', 1280],
          ['5', 1190],
          ['10', 1090],
        ],
      },
    ],
    facts: {
      ...texts(
        say('Quayside Filter Roast, ground 500 g', 'Quayside Filterkaffee, gemahlen 500 g'),
        [
          'A mild everyday roast.',
          'Ground for paper filters, clear and a little nutty. Good for a whole table.',
        ],
        [
          'Ein milder Kaffee für jeden Tag.',
          'Für Papierfilter gemahlen, klar und ein wenig nussig. Reicht für den ganzen Tisch.',
        ],
      ),
      ...grams(500),
      manufacturer: 'Tidewater Roasters',
      bulkPrices: [
        { quantity: '5', prices: euro(1190) },
        { quantity: '10', prices: euro(1090) },
      ],
    },
  },
  {
    number: 'TE-100',
    categories: ['green'],
    price: 720,
    tax: 'reduced',
    stock: [75, 10],
    weight: 120,
    crossSelling: ['TE-110', 'ZZ-100'],
    facts: {
      ...texts(
        say('Fog Lane Green Tea 100 g', 'Fog Lane Grüntee 100 g', 'Thé vert Fog Lane 100 g'),
        [
          'Steamed leaves with a taste of hay and sea air.',
          'Pour on water of 70 degrees and wait for two minutes. The second cup is better than the first.',
        ],
        [
          'Gedämpfte Blätter, die nach Heu und Seeluft schmecken.',
          'Mit Wasser von 70 Grad aufgießen und zwei Minuten warten. Die zweite Tasse ist besser als die erste.',
        ],
      ),
      ...grams(100),
      searchKeywords: { en_GB: ['sencha', 'loose leaf'], de_DE: ['Sencha', 'loser Tee'] },
      manufacturer: 'Fog Lane Teas',
    },
  },
  {
    number: 'TE-110',
    categories: ['black'],
    price: 895,
    formerPrices: [{ price: 1095, days: 10 }],
    tax: 'reduced',
    stock: [40, 10],
    weight: 280,
    facts: {
      ...texts(
        say('Old Ferry Black Tea 250 g', 'Old Ferry Schwarztee 250 g'),
        [
          'Strong enough for milk.',
          'A broken-leaf blend as it is drunk on the ferry, dark after four minutes.',
        ],
        [
          'Kräftig genug für Milch.',
          'Eine Broken-Mischung, wie sie auf der Fähre getrunken wird, nach vier Minuten dunkel.',
        ],
      ),
      ...grams(250),
      specialOffer: true,
      manufacturer: 'Fog Lane Teas',
      manufacturerPrices: euro(1150),
      isManufacturerPriceRrp: true,
    },
  },
  {
    number: 'TE-120',
    categories: ['black'],
    price: 560,
    tax: 'reduced',
    stock: [0, 6],
    weight: 95,
    watchers: 5,
    facts: {
      ...texts(
        say('Ginger Bay Herbal Tea 80 g', 'Ginger Bay Kräutertee 80 g'),
        ['Ginger, lemongrass and a little pepper.', 'Warms after a swim in May. Free of caffeine.'],
        ['Ingwer, Zitronengras und etwas Pfeffer.', 'Wärmt nach dem Bad im Mai. Ohne Koffein.'],
      ),
      ...grams(80),
      manufacturer: 'Fog Lane Teas',
    },
  },
  {
    number: 'DR-100',
    categories: ['drinks'],
    price: 145,
    stock: [480, 48],
    weight: 380,
    facts: {
      ...texts(
        say('Slipway Cola 0.33 l', 'Slipway Cola 0,33 l'),
        ['Less sugar, more lime.', 'Brewed with real cola nut, sold in sixes. The bottle comes back to us.'],
        [
          'Weniger Zucker, mehr Limette.',
          'Mit echter Kolanuss gebraut, zu sechst verkauft. Die Flasche kommt zu uns zurück.',
        ],
      ),
      ...litres(0.33),
      orderUnit: { priceQuantity: 1, unit: 'piece', minimum: 6, interval: 6 },
      depositPrices: euro(25),
      manufacturer: 'Slipway Drinks',
    },
  },
  {
    number: 'DR-110',
    categories: ['drinks'],
    price: 1440,
    stock: [30, 5],
    weight: 14_500,
    shipping: ['freight', 'pickup'],
    facts: {
      ...texts(
        say('Marina Lemonade crate 12 x 0.7 l', 'Marina Limonade Kasten 12 x 0,7 l'),
        [
          'A crate for the whole crew.',
          'Cloudy lemonade in twelve glass bottles. Too heavy for the parcel carrier.',
        ],
        [
          'Ein Kasten für die ganze Mannschaft.',
          'Trübe Limonade in zwölf Glasflaschen. Zu schwer für den Paketdienst.',
        ],
      ),
      ...litres(8.4),
      orderUnit: { priceQuantity: 1, unit: 'carton', minimum: 1, interval: 1 },
      depositPrices: euro(330),
      manufacturer: 'Slipway Drinks',
    },
  },
  {
    number: 'DR-120',
    categories: ['drinks'],
    price: 295,
    formerPrices: [{ price: 265, days: 45 }],
    // Two were sold that were not there.
    stock: [-2, 12],
    weight: 820,
    watchers: 1,
    facts: {
      ...texts(
        say('Harbour Cider 0.5 l', 'Hafen Cider 0,5 l'),
        [
          'Dry, from old orchards behind the dyke.',
          'Pressed from windfalls and fermented until Christmas. 4.5 % alcohol.',
        ],
        [
          'Trocken, von alten Streuobstwiesen hinter dem Deich.',
          'Aus Fallobst gepresst und bis Weihnachten vergoren. 4,5 % Alkohol.',
        ],
      ),
      ...litres(0.5),
      depositPrices: euro(8),
      manufacturer: 'Slipway Drinks',
    },
  },
  {
    number: 'KN-100',
    type: 'Knife',
    categories: ['knives'],
    price: 6400,
    crossSelling: ['KN-110', 'KN-120'],
    facts: {
      ...texts(
        say('Reefline Chef Knife', 'Reefline Kochmesser', 'Couteau de chef Reefline'),
        [
          'One knife for nearly everything.',
          'Forged from one piece of steel, with a handle of smoked oak. It wants to be washed by hand.',
        ],
        [
          'Ein Messer für fast alles.',
          'Aus einem Stück Stahl geschmiedet, mit einem Griff aus Räuchereiche. Bitte von Hand spülen.',
        ],
      ),
      essentialFeatures: say(
        'Steel X50CrMoV15, 56 HRC, smoked oak',
        'Stahl X50CrMoV15, 56 HRC, Räuchereiche',
      ),
      manufacturer: 'Reefline',
      variationAttributes: [{ key: 'Blade', values: ['16 cm', '20 cm'] }],
    },
  },
  {
    number: 'KN-101',
    master: 'KN-100',
    selection: { Blade: '16 cm' },
    stock: [14, 4],
    weight: 310,
    facts: {},
  },
  {
    number: 'KN-102',
    master: 'KN-100',
    selection: { Blade: '20 cm' },
    stock: [11, 4],
    weight: 350,
    facts: {},
  },
  {
    number: 'KN-110',
    categories: ['knives'],
    price: 2450,
    stock: [33, 5],
    weight: 120,
    groups: [{ name: 'Staff', discount: 2000, tiers: [['1', 2450]] }],
    newFor: 30,
    changed: { attributes: 1 },
    facts: {
      ...texts(
        say('Reefline Paring Knife', 'Reefline Schälmesser'),
        [
          'Small, for what is done in the hand.',
          'Eight centimetres of blade for apples, garlic and shrimps.',
        ],
        ['Klein, für alles aus der Hand.', 'Acht Zentimeter Klinge für Äpfel, Knoblauch und Krabben.'],
      ),
      isNew: true,
      manufacturer: 'Reefline',
      manufacturerProductNumber: 'RL-08-P',
      length: 195,
      width: 22,
      height: 16,
    },
  },
  {
    number: 'KN-120',
    categories: ['knives'],
    price: 2990,
    stock: [19, 5],
    weight: 640,
    // They wait for a stone that has come already.
    watchers: 2,
    facts: {
      ...texts(
        say('Saltbox Sharpening Stone', 'Saltbox Schleifstein'),
        ['Two grits, 1000 and 3000.', 'Soak it for ten minutes, then draw the edge over it in long strokes.'],
        [
          'Zwei Körnungen, 1000 und 3000.',
          'Zehn Minuten wässern, dann die Schneide in langen Zügen darüberführen.',
        ],
      ),
      manufacturer: 'Reefline',
      videos: [{ type: 'YouTube', source: 'hh0Saltbox1' }],
    },
  },
  {
    number: 'AP-100',
    categories: ['appliances'],
    price: 4990,
    stock: [22, 5],
    weight: 1350,
    energy: ['A', 'A'],
    hasDataSheet: true,
    facts: {
      ...texts(
        say('Beacon Kettle 1.7 l', 'Beacon Wasserkocher 1,7 l', 'Bouilloire Beacon 1,7 l'),
        [
          'Boils a litre in under three minutes.',
          'Brushed steel, double walled, with a light that tells from across the room when the water is ready.',
        ],
        [
          'Kocht einen Liter in weniger als drei Minuten.',
          'Gebürsteter Stahl, doppelwandig, mit einem Licht, das quer durchs Zimmer zeigt, wenn das Wasser so weit ist.',
        ],
      ),
      essentialFeatures: say('1.7 l, 2200 W, double walled', '1,7 l, 2200 W, doppelwandig'),
      manufacturer: 'Beacon',
      manufacturerProductNumber: 'BK-17',
      ecoParticipationPrices: euro(50),
    },
  },
  {
    number: 'AP-110',
    categories: ['appliances'],
    price: 38_900,
    stock: [6, 2],
    weight: 9800,
    crossSelling: ['CB-100', 'CB-200', 'AP-120'],
    energy: ['B,D', 'A'],
    facts: {
      ...texts(
        say('Beacon Espresso Machine', 'Beacon Espressomaschine'),
        [
          'One boiler, one lever, no display.',
          'A brass boiler that is warm after two minutes and a pump of 15 bar. Everything can be unscrewed and repaired.',
        ],
        [
          'Ein Kessel, ein Hebel, kein Display.',
          'Ein Messingkessel, der nach zwei Minuten warm ist, und eine Pumpe mit 15 bar. Alles lässt sich abschrauben und reparieren.',
        ],
      ),
      essentialFeatures: say('15 bar, brass boiler, 1.8 l tank', '15 bar, Messingkessel, Tank 1,8 l'),
      deliveryPeriod: '3-5',
      manufacturer: 'Beacon',
      manufacturerPrices: euro(44_900),
      ecoParticipationPrices: euro(240),
      attributes: [
        attribute('Pressure', say('Pressure (bar)', 'Druck (bar)'), 'number', '15'),
        attribute('Release', say('Release', 'Erschienen'), 'datetime', '2025-09-01T08:00:00Z'),
        attribute('Warm-up', say('Warm-up time', 'Aufheizzeit'), 'time', '00:02'),
      ],
    },
  },
  {
    number: 'AP-120',
    categories: ['appliances'],
    price: 11_900,
    stock: [3, 3],
    weight: 2900,
    facts: {
      ...texts(
        say('Beacon Burr Grinder', 'Beacon Kaffeemühle'),
        [
          'Forty steps from mocha to press.',
          'Conical burrs of hardened steel that turn slowly and stay cool.',
        ],
        [
          'Vierzig Stufen von Mokka bis Presskanne.',
          'Kegelmahlwerk aus gehärtetem Stahl, das langsam dreht und kühl bleibt.',
        ],
      ),
      manufacturer: 'Beacon',
      ecoParticipationPrices: euro(120),
    },
  },
  {
    number: 'LA-100',
    type: 'Lamp',
    categories: ['lamps'],
    price: 7900,
    facts: {
      ...texts(
        say('Lantern Point Lamp', 'Lantern Point Leuchte', 'Lampe Lantern Point'),
        [
          'A table lamp with the calm of a lighthouse.',
          'Hand-blown glass in a metal cage, dimmed by turning the cap. The bulb is not included.',
        ],
        [
          'Eine Tischleuchte mit der Ruhe eines Leuchtturms.',
          'Mundgeblasenes Glas im Metallkorb, gedimmt durch Drehen der Kappe. Ohne Leuchtmittel.',
        ],
      ),
      deliveryPeriod: '2-4',
      manufacturer: 'Lantern Point',
      attributes: [
        {
          key: 'Room',
          name: say('Room', 'Raum', 'Pièce'),
          type: 'string',
          singleValue: false,
          values: [
            { value: 'Living room', name: say('Living room', 'Wohnzimmer', 'Salon') },
            { value: 'Bedroom', name: say('Bedroom', 'Schlafzimmer', 'Chambre') },
            { value: 'Cabin', name: say('Cabin', 'Kajüte', 'Cabine') },
          ],
        },
      ],
      variationAttributes: [
        { key: 'Colour', values: ['Brass', 'Slate'] },
        { key: 'Size', values: ['Small', 'Large'] },
      ],
    },
  },
  {
    number: 'LA-101',
    master: 'LA-100',
    selection: { Colour: 'Brass', Size: 'Small' },
    price: 7900,
    stock: [9, 2],
    weight: 1900,
    facts: {},
  },
  {
    number: 'LA-102',
    master: 'LA-100',
    selection: { Colour: 'Brass', Size: 'Large' },
    price: 9900,
    stock: [5, 2],
    weight: 2600,
    facts: {},
  },
  {
    number: 'LA-103',
    master: 'LA-100',
    selection: { Colour: 'Slate', Size: 'Small' },
    price: 8500,
    stock: [7, 2],
    weight: 1900,
    facts: {},
  },
  {
    number: 'LA-110',
    categories: ['lamps'],
    price: 690,
    stock: [300, 50],
    weight: 60,
    energy: ['E', 'A'],
    facts: {
      ...texts(
        say('Dock Light LED Bulb', 'Dock Light LED-Lampe'),
        ['Warm white, E27, 806 lumen.', 'Seven watts that look like sixty, and no flicker when dimmed.'],
        ['Warmweiß, E27, 806 Lumen.', 'Sieben Watt, die wie sechzig aussehen, gedimmt ohne Flackern.'],
      ),
      manufacturer: 'Lantern Point',
      ecoParticipationPrices: euro(10),
      bulkPrices: [{ quantity: '10', prices: euro(590) }],
    },
  },
  {
    number: 'RO-100',
    categories: ['gifts'],
    price: 240,
    stock: [850, 50],
    weight: 70,
    facts: {
      ...texts(
        say('Mooring Rope 10 mm, by the metre', 'Mooring Seil 10 mm, Meterware'),
        ['Three strands, spliced on request.', 'Soft in the hand and slow to rot. Cut to the half metre.'],
        [
          'Dreischäftig, auf Wunsch gespleißt.',
          'Weich in der Hand und haltbar. Auf den halben Meter zugeschnitten.',
        ],
      ),
      orderUnit: { priceQuantity: 1, unit: 'metre', minimum: 2, interval: 0.5 },
      manufacturer: 'Reefline',
    },
  },
  {
    number: 'GI-100',
    type: 'Board',
    categories: ['gifts', 'kitchen'],
    price: 3400,
    stock: [25, 5],
    weight: 900,
    facts: {
      ...texts(
        say('Engraved Driftwood Board', 'Graviertes Treibholzbrett', 'Planche gravée en bois flotté'),
        [
          'With up to 40 letters of your own.',
          'Oak that has been to sea, sanded, oiled and engraved in our workshop.',
        ],
        [
          'Mit bis zu 40 eigenen Buchstaben.',
          'Eiche, die zur See gefahren ist, geschliffen, geölt und in unserer Werkstatt graviert.',
        ],
      ),
      deliveryPeriod: '5',
      manufacturer: 'Reefline',
      length: 380,
      width: 180,
      height: 22,
      customisation: { textLength: 40, headline: 'Your engraving' },
      attributes: [
        {
          ...attribute('Wood', say('Wood', 'Holz', 'Bois'), 'string', 'Oak'),
          values: [{ value: 'Oak', name: say('Oak', 'Eiche', 'Chêne') }],
        },
        attribute('Dishwasher', say('Dishwasher', 'Spülmaschine'), 'bool', 'false'),
        attribute(
          'Care guide',
          say('Care guide', 'Pflege'),
          'url',
          'https://harbour-hearth.example/care/driftwood',
        ),
      ],
    },
  },
  {
    number: 'GI-110',
    categories: ['gifts'],
    price: 2500,
    tax: 'none',
    stock: [999, 0],
    weight: 10,
    facts: texts(
      say('Gift Card (printed)', 'Geschenkkarte (gedruckt)'),
      [
        'For those who know best themselves.',
        'Printed on thick card, valid for three years from the day of purchase.',
      ],
      ['Für alle, die es selbst am besten wissen.', 'Auf festem Karton gedruckt, drei Jahre ab Kauf gültig.'],
    ),
  },
  {
    number: 'GI-120',
    categories: ['gifts'],
    price: 1200,
    stock: [57, 10],
    weight: 90,
    facts: {
      ...texts(
        say('Anchor Socks', 'Ankersocken'),
        [
          'Wool that does not mind getting wet.',
          'Knitted in one size from 38 to 43, with an anchor at each ankle.',
        ],
        [
          'Wolle, die Nässe nicht übel nimmt.',
          'In einer Größe von 38 bis 43 gestrickt, mit einem Anker an jedem Knöchel.',
        ],
      ),
      specialOffer: true,
      orderUnit: { priceQuantity: 1, unit: 'pair', minimum: 1, interval: 1 },
      manufacturerPrices: euro(1500),
    },
  },
  {
    number: 'BK-100',
    categories: ['books'],
    price: 999,
    tax: 'ebooks',
    facts: {
      ...texts(
        say('Tides and Tables (eBook)', 'Gezeiten und Tafeln (E-Book)'),
        [
          'Why the sea comes twice a day.',
          'Moon, wind and shallow water, explained with drawings. 180 pages as EPUB.',
        ],
        [
          'Warum die See zweimal am Tag kommt.',
          'Mond, Wind und flaches Wasser, mit Zeichnungen erklärt. 180 Seiten als EPUB.',
        ],
      ),
      manufacturer: 'Harbour Press',
    },
  },
  {
    number: 'BK-110',
    categories: ['books', 'kitchen'],
    price: 2800,
    tax: 'reduced',
    stock: [16, 3],
    weight: 1150,
    changed: { attributes: 20 },
    facts: {
      ...texts(
        say('The Quiet Harbour Cookbook', 'Das stille Hafenkochbuch', 'La cuisine du port tranquille'),
        [
          'Sixty dishes for one pot.',
          'What is cooked when the boats stay in: soups, stews and bread, with no hurry.',
        ],
        [
          'Sechzig Gerichte für einen Topf.',
          'Was gekocht wird, wenn die Boote drinbleiben: Suppen, Eintöpfe und Brot, ohne Eile.',
        ],
      ),
      manufacturer: 'Harbour Press',
      ean: '4012345678901',
    },
  },
  {
    number: 'BK-120',
    categories: ['books'],
    price: 1490,
    tax: 'digital',
    facts: {
      ...texts(
        say('Knots Audio Course', 'Knotenkurs (Audio)'),
        [
          'Twelve knots in twelve evenings.',
          'Read slowly, so that the hands can follow. Three hours as MP3.',
        ],
        [
          'Zwölf Knoten an zwölf Abenden.',
          'Langsam gelesen, damit die Hände folgen können. Drei Stunden als MP3.',
        ],
      ),
      manufacturer: 'Harbour Press',
    },
  },
  {
    number: 'ZZ-100',
    categories: ['archive'],
    visible: false,
    price: 1900,
    stock: [2, 0],
    weight: 700,
    facts: {
      ...texts(
        say('Retired Thermos', 'Ausgelaufene Thermoskanne'),
        ['No longer made.', 'Kept for those who need a spare part.'],
        ['Wird nicht mehr hergestellt.', 'Für alle aufgehoben, die ein Ersatzteil brauchen.'],
      ),
      manufacturer: 'Slipway Drinks',
    },
  },
  {
    number: 'ZZ-110',
    categories: ['archive'],
    price: 0,
    stock: [50, 0],
    weight: 30,
    facts: {
      ...texts(
        say('Sample Spoon', 'Musterlöffel'),
        ['Goes into parcels, is not sold.', 'A wooden spoon to try honey with.'],
        ['Liegt Paketen bei, ist nicht zu kaufen.', 'Ein Holzlöffel, um Honig zu probieren.'],
      ),
      manufacturer: 'Reefline',
    },
  },
];

function attribute(
  key: string,
  name: Localised,
  type: 'string' | 'number' | 'bool' | 'datetime' | 'time' | 'url',
  value: string,
) {
  return { key, name, type, singleValue: true, values: [{ value, name: {} }] };
}
