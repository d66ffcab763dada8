/** What the generated products are called. */
export interface Word {
  en: string;
  de: string;
}

interface Department {
  name: Word;
  shelves: { name: Word; nouns: Word[] }[];
}

/** `Lamp=Leuchte, Chair=Stuhl` */
function words(text: string): Word[] {
  return text.split(/,\s*/).map((pair) => {
    const [en, de] = pair.trim().split('=') as [string, string];
    return { en, de };
  });
}

function word(text: string): Word {
  return words(text)[0]!;
}

function department(name: string, shelves: Record<string, string>): Department {
  return {
    name: word(name),
    shelves: Object.entries(shelves).map(([shelf, nouns]) => ({ name: word(shelf), nouns: words(nouns) })),
  };
}

export const DEPARTMENTS: readonly Department[] = [
  department('Living room=Wohnzimmer', {
    'Seating=Sitzmöbel': 'Armchair=Sessel, Stool=Hocker, Bench=Bank, Rocker=Schaukelstuhl',
    'Tables=Tische': 'Table=Tisch, Sideboard=Anrichte, Desk=Schreibtisch, Console=Konsole',
    'Lighting=Beleuchtung':
      'Lantern=Laterne, Floodlight=Strahler, Chandelier=Kronleuchter, Candlestick=Kerzenständer',
    'Textiles=Textilien': 'Cushion=Kissen, Blanket=Decke, Curtain=Vorhang, Rug=Teppich',
  }),
  department('Cooking=Kochen', {
    'Pots and pans=Töpfe und Pfannen': 'Saucepan=Kasserolle, Skillet=Pfanne, Casserole=Bräter, Wok=Wokpfanne',
    'Cutting=Schneiden': 'Cleaver=Hackmesser, Peeler=Schäler, Grater=Reibe, Scissors=Schere',
    'Baking=Backen': 'Whisk=Schneebesen, Baking tin=Backform, Rolling pin=Nudelholz, Sieve=Sieb',
    'Storage=Vorrat': 'Jar=Glas, Canister=Dose, Basket=Korb, Bread bin=Brotkasten',
  }),
  department('Table setting=Gedeckter Tisch', {
    'Plates=Teller': 'Plate=Teller, Bowl=Schale, Platter=Servierplatte, Saucer=Untertasse',
    'Glasses=Gläser': 'Tumbler=Becher, Goblet=Kelch, Carafe=Karaffe, Decanter=Dekanter',
    'Cutlery=Besteck': 'Fork=Gabel, Teaspoon=Teelöffel, Ladle=Kelle, Tongs=Zange',
    'Linen=Tischwäsche': 'Napkin=Serviette, Tablecloth=Tischdecke, Runner=Läufer, Apron=Schürze',
  }),
  department('Garden=Garten', {
    'Tools=Geräte': 'Spade=Spaten, Rake=Harke, Trowel=Kelle, Shears=Heckenschere',
    'Planting=Pflanzen':
      'Planter=Pflanzkübel, Trellis=Rankgitter, Seed tray=Saatschale, Watering can=Gießkanne',
    'Outdoor living=Draußen leben':
      'Parasol=Sonnenschirm, Hammock=Hängematte, Firepit=Feuerschale, Deckchair=Liegestuhl',
    'Wildlife=Tiere': 'Nest box=Nistkasten, Birdbath=Vogeltränke, Feeder=Futterhaus, Beehive=Bienenstock',
  }),
  department('Workshop=Werkstatt', {
    'Hand tools=Handwerkzeug':
      'Hammer=Hammer, Chisel=Stechbeitel, Mallet=Klopfholz, Screwdriver=Schraubendreher',
    'Measuring=Messen': 'Ruler=Lineal, Caliper=Messschieber, Spirit level=Wasserwaage, Compass=Zirkel',
    'Fixings=Befestigung': 'Hook=Haken, Hinge=Scharnier, Bracket=Winkel, Clamp=Zwinge',
    'Order=Ordnung': 'Toolbox=Werkzeugkiste, Shelf=Regal, Rack=Gestell, Crate=Kiste',
  }),
  department('Travel=Reisen', {
    'Bags=Taschen': 'Rucksack=Rucksack, Suitcase=Koffer, Satchel=Umhängetasche, Pouch=Beutel',
    'Camping=Zelten': 'Tent=Zelt, Sleeping mat=Schlafmatte, Stove=Kocher, Flask=Thermosflasche',
    'Sea=Meer': 'Paddle=Paddel, Anchor=Anker, Buoy=Boje, Fender=Fender',
    'Bicycle=Fahrrad': 'Saddle=Sattel, Pannier=Packtasche, Bell=Klingel, Pump=Luftpumpe',
  }),
  department('Writing=Schreiben', {
    'Paper=Papier': 'Notebook=Notizbuch, Envelope=Umschlag, Sketchbook=Skizzenbuch, Calendar=Kalender',
    'Pens=Stifte': 'Fountain pen=Füller, Pencil=Bleistift, Inkwell=Tintenfass, Marker=Filzstift',
    'Office=Büro': 'Stapler=Hefter, Folder=Mappe, Tray=Ablage, Clock=Uhr',
    'Painting=Malen': 'Easel=Staffelei, Palette=Palette, Paintbrush=Pinsel, Canvas=Leinwand',
  }),
  department('Play=Spielen', {
    'Toys=Spielzeug': 'Kite=Drachen, Puzzle=Puzzle, Marionette=Marionette, Building set=Baukasten',
    'Games=Spiele':
      'Chessboard=Schachbrett, Domino set=Dominospiel, Dice cup=Würfelbecher, Card game=Kartenspiel',
    'Music=Musik': 'Drum=Trommel, Flute=Flöte, Xylophone=Xylofon, Harmonica=Mundharmonika',
    'Sport=Sport': 'Skipping rope=Springseil, Racket=Schläger, Frisbee=Wurfscheibe, Skateboard=Rollbrett',
  }),
];

export const ADJECTIVES = words(`
  Small=klein, Large=groß, Light=leicht, Sturdy=stabil, Folding=klappbar, Round=rund, Square=eckig, Slim=schmal,
  Vintage=antik, Modern=modern, Rustic=rustikal, Polished=poliert, Brushed=gebürstet, Painted=lackiert,
  Waterproof=wasserfest, Stackable=stapelbar, Portable=tragbar, Engraved=graviert, Woven=geflochten,
  Handmade=handgemacht, Classic=klassisch, Nordic=nordisch, Coastal=maritim, Quiet=leise, Everyday=alltäglich,
  Reversible=wendbar, Insulated=isoliert, Padded=gepolstert, Hanging=hängend, Deluxe=edel`);

export const MATERIALS = words(`
  Oak=Eiche, Ash=Esche, Walnut=Nussbaum, Bamboo=Bambus, Cork=Kork, Copper=Kupfer, Brass=Messing, Iron=Eisen,
  Steel=Stahl, Enamel=Emaille, Porcelain=Porzellan, Stoneware=Steinzeug, Marble=Marmor, Slate=Schiefer,
  Linen=Leinen, Wool=Wolle, Cotton=Baumwolle, Felt=Filz, Leather=Leder, Rattan=Rattan, Crystal=Kristall,
  Terracotta=Terrakotta, Jute=Jute, Birch=Birke`);

export const COLOURS = words(`
  Red=Rot, Blue=Blau, Green=Grün, Yellow=Gelb, Black=Schwarz, White=Weiß, Grey=Grau, Natural=Natur`);

export const SIZES = words('Compact=Kompakt, Medium=Mittel, Wide=Breit, Extra=Extra');

export const MAKERS: readonly string[] = (
  'Aldermoor,Bellhaven,Brannock,Calder & Wick,Copperfield Works,Dunmarrow,Eastquay,Elderby,Fennimore,Foxglove,' +
  'Garrick & Sons,Greywater,Hallowell,Hartsong,Highmere,Ingleby,Jarrow & Finch,Kestrel Row,Kingsferry,Larkspur,' +
  'Linden & Low,Marlowe,Merriweather,Millrace,Northgate,Oakhurst,Otterburn,Pemberly,Pinecrest,Quillon,Ravenscar,' +
  'Redwick,Rowanberry,Saltmarsh,Sandpiper,Silverlea,Stonebridge,Swanmere,Tamarind,Thistledown,Tidewell,Underhill,' +
  'Vanterpool,Wayfarer,Weatherby,Westering,Whitlock,Willowmere,Windrush,Yarrow'
).split(',');

export const MODELS: readonly string[] = (
  'Alba,Almere,Ansgar,Arvika,Aurora,Bergen,Birka,Bodil,Borkum,Brisa,Cadiz,Camino,Celeste,Corvo,Delft,Dorado,Duna,' +
  'Elba,Enna,Esbjerg,Faro,Fjella,Flores,Gala,Gotland,Hanko,Helgo,Hydra,Ilva,Inari,Juist,Kalmar,Karlo,Keros,Lagos,' +
  'Lido,Lofoten,Lyra,Madeira,Malmo,Marina,Mira,Naxos,Nexo,Nida,Norden,Oland,Orla,Oslo,Palma,Paros,Pico,Porto,Ragusa,' +
  'Riga,Roma,Rosa,Runa,Samos,Sera,Sirius,Skagen,Solveig,Sylt,Tara,Tessel,Tromso,Udine,Ulla,Varna,Vega,Viborg,Vigo,' +
  'Visby,Wilma,Xenia,Ystad,Zadar,Zara,Zeland'
).split(',');

/** %n is the thing, %m what it is made of. */
export const SENTENCES: readonly Word[] = [
  {
    en: 'This %n is made of %m in a small workshop and checked by hand before it leaves the house.',
    de: 'Hergestellt aus %m in einer kleinen Werkstatt und von Hand geprüft, bevor es das Haus verlässt: %n.',
  },
  {
    en: 'The %m ages gracefully; wipe it with a damp cloth and keep it away from the dishwasher.',
    de: 'Das Material %m altert in Würde; mit einem feuchten Tuch abwischen, nicht in die Spülmaschine geben.',
  },
  {
    en: 'Designed for daily use, the %n takes up little room and is put away in seconds.',
    de: 'Für den täglichen Gebrauch entworfen, braucht wenig Platz und ist in Sekunden verstaut: %n.',
  },
  {
    en: 'Delivered in recycled cardboard, with spare parts available for at least ten years.',
    de: 'Geliefert in recyceltem Karton, Ersatzteile sind mindestens zehn Jahre lang erhältlich.',
  },
  {
    en: 'A welcome present for people who have everything, and a pleasure for those who do not.',
    de: 'Ein willkommenes Geschenk für Menschen, die alles haben, und eine Freude für alle anderen.',
  },
  {
    en: 'Each %n differs a little from the next, because %m is a natural material.',
    de: 'Kein Stück gleicht dem anderen, denn %m ist ein natürlicher Werkstoff.',
  },
  {
    en: 'Tested outdoors through three winters: neither frost nor salt water has harmed it.',
    de: 'Drei Winter lang im Freien erprobt: Weder Frost noch Salzwasser haben ihm geschadet.',
  },
  {
    en: 'Assembly takes five minutes, needs no tools and is explained in a clear drawing.',
    de: 'Der Aufbau dauert fünf Minuten, braucht kein Werkzeug und ist in einer klaren Zeichnung erklärt.',
  },
  {
    en: 'Matches the other pieces of the series in height, finish and colour.',
    de: 'Passt in Höhe, Oberfläche und Farbe zu den anderen Stücken der Serie.',
  },
  {
    en: 'The edges are rounded, the feet protect your floor, and nothing rattles.',
    de: 'Die Kanten sind gerundet, die Füße schonen den Boden, und nichts klappert.',
  },
];
