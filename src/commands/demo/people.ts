import type { AddressField } from '../../shops/countries/address.ts';

type Sent = Partial<Record<AddressField, string>>;

export interface DemoCustomer {
  number: string;
  note?: string;
  /** Name of the customer group. */
  group?: string;
  address: Sent;
}

export const demoCustomers: DemoCustomer[] = [
  {
    number: '1001',
    note: 'pays on time',
    group: 'Cafes',
    address: {
      company: 'Cafe Pelican',
      salutation: 'Mrs',
      firstName: 'Ada',
      lastName: 'Brennan',
      street: 'Hafenstraße 12',
      zipCode: '20457',
      city: 'Hamburg',
      country: 'DE',
      emailAddress: 'ada@pelican.example',
      gender: 'FEMALE',
    },
  },
  {
    number: '1002',
    address: {
      salutation: 'Mr',
      firstName: 'Jonas',
      lastName: 'Wittmoor',
      street: 'Moorweg 3',
      zipCode: '22397',
      city: 'Hamburg',
      country: 'DE',
      birthday: '1984-02-29',
      emailAddress: 'jonas.w@mail.example',
      gender: 'MALE',
    },
  },
  {
    number: '1003',
    address: {
      salutation: 'Mme',
      firstName: 'Mireille',
      lastName: 'Castagne',
      street: '8 rue du Port',
      zipCode: '29200',
      city: 'Brest',
      country: 'FR',
      emailAddress: 'm.castagne@mail.example',
      gender: 'FEMALE',
    },
  },
  {
    number: '1004',
    address: {
      firstName: 'Owen',
      lastName: 'Tallis',
      street: '5 Quay Lane',
      zipCode: 'EX3 0AA',
      city: 'Topsham',
      country: 'GB',
      emailAddress: 'owen.tallis@mail.example',
    },
  },
  {
    number: '1005',
    address: {
      company: 'Sandvoss Events GmbH',
      salutation: 'Mrs',
      firstName: 'Rika',
      lastName: 'Sandvoss',
      street: 'Speicherstadt 21',
      streetDetails: 'Block D',
      zipCode: '20457',
      city: 'Hamburg',
      state: 'HH',
      country: 'DE',
      title: 'Dipl.-Kffr.',
      vatId: 'DE811907980',
      birthday: '1971-06-03',
      emailAddress: 'office@sandvoss.example',
      addressExtension: '3rd floor',
      bankAccountHolder: 'Sandvoss Events GmbH',
      bankAccountNumber: 'DE02120300000000202051',
      bankName: 'Harbour Bank',
      bankSortCode: 'BYLADEM1001',
      businessEmailAddress: 'events@sandvoss.example',
      businessPhoneNumber: '+49 40 5550100',
      department: 'Purchasing',
      displayName: 'Rika Sandvoss',
      doorCode: '4711',
      faxNumber: '+49 40 5550101',
      fiscalCode: '22/815/08154',
      gender: 'FEMALE',
      jobTitle: 'Managing director',
      middleName: 'Wiebke',
      mobilePhoneNumber: '+49 170 5550102',
      phoneNumber: '+49 40 5550103',
      privateEmailAddress: 'rika@mail.example',
      privatePhoneNumber: '+49 40 5550104',
      websiteUrl: 'https://sandvoss.example',
    },
  },
  {
    number: '1006',
    address: {
      title: 'Dr.',
      firstName: 'Leo',
      lastName: 'Marchetti',
      street: '410 Cannery Row',
      zipCode: '97103',
      city: 'Astoria',
      state: 'OR',
      country: 'US',
      emailAddress: 'leo@marchetti.example',
      gender: 'MALE',
    },
  },
  {
    number: '1007',
    address: {
      firstName: 'Test',
      lastName: 'Customer',
      street: 'Speicherweg 4',
      zipCode: '20457',
      city: 'Hamburg',
      country: 'DE',
      emailAddress: 'test@harbour-hearth.example',
    },
  },
  ...(
    [
      ['1008', 'Ines', 'Harksen', 'Deichstraße 7', '25980', 'Westerland', 'DE'],
      ['1009', 'Piet', 'Lorentzen', 'Am Leuchtturm 1', '26548', 'Norderney', 'DE'],
      ['1010', 'Clara', 'Moosbrugger', 'Seegasse 14', '6900', 'Bregenz', 'AT'],
      ['1011', 'Yann', 'Kermarec', '3 quai des Dunes', '56170', 'Quiberon', 'FR'],
      ['1012', 'Hedda', 'Brodersen', 'Strandpromenade 22', '18609', 'Binz', 'DE'],
      ['1013', 'Urs', 'Zellweger', 'Seestrasse 90', '8002', 'Zürich', 'CH'],
      ['1014', 'Maeve', 'Trelawny', '17 Fore Street', 'TR26 1HE', 'St Ives', 'GB'],
      ['1015', 'Thies', 'Petersen', 'Fischmarkt 5', '24103', 'Kiel', 'DE'],
    ] as const
  ).map(([number, firstName, lastName, street, zipCode, city, country]) => ({
    number,
    address: {
      firstName,
      lastName,
      street,
      zipCode,
      city,
      country,
      emailAddress: `${firstName}.${lastName}@mail.example`.toLowerCase(),
    },
  })),
];

export interface DemoSubscriber {
  campaign: string;
  name: string;
  subscribed: boolean;
}

const english = [
  ['Ada Brennan', true],
  ['Owen Tallis', true],
  ['Leo Marchetti', true],
  ['Maeve Trelawny', true],
  ['Nora Quill', true],
  ['Silas Penrose', false],
  ['Tamsin Lowe', true],
  ['Gideon Marsh', true],
  ['Wren Hollis', true],
  ['Bram Fenwick', true],
  ['Isla Corran', false],
  ['Rory Blythe', true],
  ['Una Skerry', true],
  ['Perrin Dunmore', true],
] as const;

const german = ['Jonas Wittmoor', 'Rika Sandvoss', 'Thies Petersen'] as const;

export const demoSubscribers: DemoSubscriber[] = [
  ...english.map(([name, subscribed]) => ({ campaign: 'TideLetter_EN', name, subscribed })),
  ...german.map((name) => ({ campaign: 'TideLetter_DE', name, subscribed: true })),
];
