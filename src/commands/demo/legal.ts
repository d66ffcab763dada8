/** [page, locale, content]: the cookie policy only in English, and no French page about shipping. */
export const demoLegalPages: [page: string, locale: string, content: Record<string, string>][] = [
  [
    'contact-information',
    'en_GB',
    {
      name: 'Contact information',
      title: 'Contact information',
      navigationCaption: 'Contact',
      shortDescription: '<p>We answer within one working day.</p>',
      description: '<p>Harbour &amp; Hearth, owner: Ina Feldkamp. VAT id DE811907980.</p>',
      company: 'Harbour & Hearth',
      contactPerson: 'Ina Feldkamp',
      contactPersonJobTitle: 'Owner',
      address: '<p>Speicherweg 4<br />20457 Hamburg<br />Germany</p>',
      phone: '+49 40 5550150',
      email: 'hello@harbour-hearth.example',
    },
  ],
  [
    'contact-information',
    'de_DE',
    {
      name: 'Impressum',
      title: 'Impressum',
      navigationCaption: 'Impressum',
      shortDescription: '<p>Wir antworten innerhalb eines Werktags.</p>',
      description: '<p>Harbour &amp; Hearth, Inhaberin: Ina Feldkamp. USt-IdNr. DE811907980.</p>',
      company: 'Harbour & Hearth',
      contactPerson: 'Ina Feldkamp',
      contactPersonJobTitle: 'Inhaberin',
      address: '<p>Speicherweg 4<br />20457 Hamburg<br />Deutschland</p>',
      phone: '+49 40 5550150',
      email: 'hello@harbour-hearth.example',
    },
  ],
  [
    'contact-information',
    'fr_FR',
    {
      name: 'Mentions légales',
      navigationCaption: 'Mentions légales',
      company: 'Harbour & Hearth',
      contactPerson: 'Ina Feldkamp',
      contactPersonJobTitle: 'Propriétaire',
      address: '<p>Speicherweg 4<br />20457 Hambourg<br />Allemagne</p>',
      phone: '+49 40 5550150',
      email: 'hello@harbour-hearth.example',
    },
  ],
  [
    'privacy-policy',
    'en_GB',
    {
      name: 'Privacy policy',
      title: 'Privacy policy',
      navigationCaption: 'Privacy',
      description: '<p>We keep what an order needs, as long as the law wants it kept, and nothing else.</p>',
    },
  ],
  [
    'privacy-policy',
    'de_DE',
    {
      name: 'Datenschutz',
      title: 'Datenschutzerklärung',
      navigationCaption: 'Datenschutz',
      description:
        '<p>Wir speichern, was eine Bestellung braucht, so lange das Gesetz es verlangt, und sonst nichts.</p>',
    },
  ],
  [
    'terms-and-conditions',
    'en_GB',
    {
      name: 'Terms and conditions',
      navigationCaption: 'Terms',
      description: '<p>The contract is made when we confirm the order. Prices include VAT.</p>',
    },
  ],
  [
    'terms-and-conditions',
    'de_DE',
    {
      name: 'Allgemeine Geschäftsbedingungen',
      navigationCaption: 'AGB',
      description:
        '<p>Der Vertrag kommt mit unserer Auftragsbestätigung zustande. Preise enthalten die MwSt.</p>',
    },
  ],
  [
    'rights-of-withdrawal',
    'en_GB',
    {
      name: 'Right of withdrawal',
      navigationCaption: 'Withdrawal',
      description:
        '<p>You may withdraw within fourteen days of receiving the goods, without giving a reason.</p>',
    },
  ],
  [
    'rights-of-withdrawal',
    'de_DE',
    {
      name: 'Widerrufsrecht',
      navigationCaption: 'Widerruf',
      description:
        '<p>Sie können binnen vierzehn Tagen ab Erhalt der Ware ohne Angabe von Gründen widerrufen.</p>',
    },
  ],
  [
    'shipping-information',
    'en_GB',
    {
      name: 'Shipping',
      navigationCaption: 'Shipping',
      description: '<p>Standard delivery takes two to three days within Germany. Pickup is free.</p>',
    },
  ],
  [
    'shipping-information',
    'de_DE',
    {
      name: 'Versand',
      navigationCaption: 'Versand',
      description:
        '<p>Der Standardversand dauert innerhalb Deutschlands zwei bis drei Tage. Abholung ist kostenlos.</p>',
    },
  ],
  [
    'cookie-policy',
    'en_GB',
    {
      name: 'Cookie policy',
      title: 'Cookie policy',
      navigationCaption: 'Cookies',
      description: '<p>One cookie remembers your cart. Others are set only after you agree.</p>',
    },
  ],
];
