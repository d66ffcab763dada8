import type { ElectronicFormat } from '../../shops/settings/schema/invoicing.ts';

export { ELECTRONIC_FORMATS, type ElectronicFormat } from '../../shops/settings/schema/invoicing.ts';

export const isXRechnung = (format: ElectronicFormat): boolean => format.startsWith('xrechnung');

/** BT-24: the specification that a document follows. */
export const SPECIFICATIONS: Readonly<Record<ElectronicFormat, string>> = {
  zugferd: 'urn:cen.eu:en16931:2017',
  'xrechnung-cii': 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
  'xrechnung-ubl': 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
  peppol: 'urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0',
};

/** BT-23: the process of an invoice in the Peppol network, which XRechnung demands as well. */
export const BILLING_PROCESS = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

/** Whether documents of a format are sent through the Peppol network, if the shop can. */
export const isForNetwork = (format: ElectronicFormat | undefined): boolean =>
  format === 'peppol' || format === 'xrechnung-ubl';
