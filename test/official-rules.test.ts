import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { electronicInvoice } from '../src/orders/documents/electronic.ts';
import { ELECTRONIC_FORMATS, type ElectronicFormat } from '../src/orders/documents/electronic-format.ts';
import { missingFacts } from '../src/orders/documents/electronic-model.ts';
import type { DocumentFacts } from '../src/orders/documents/facts.ts';
import { documentOfCase, ELECTRONIC_CASES, ELECTRONIC_KINDS } from './electronic-documents.ts';

/*
 * Electronic documents against the official rules, which this repository does not hold. docs/e-invoices.md says how to
 * fill the folder that KONTOR_EN16931_DIR names: the compiled Schematron rules as XSLT, the XML schemas, and Saxon-HE.
 */

const folder = process.env['KONTOR_EN16931_DIR'];
const run = promisify(execFile);
const reason = 'KONTOR_EN16931_DIR names no folder with the official rules, see docs/e-invoices.md';

/** What a document of a format must pass. */
const RULES: Readonly<Record<ElectronicFormat, readonly string[]>> = {
  zugferd: ['en16931-cii'],
  'xrechnung-cii': ['en16931-cii', 'xrechnung-cii'],
  'xrechnung-ubl': ['en16931-ubl', 'xrechnung-ubl'],
  peppol: ['en16931-ubl', 'peppol-ubl'],
};

const SCHEMAS = {
  CrossIndustryInvoice: 'xsd/cii/data/standard/CrossIndustryInvoice_100pD16B.xsd',
  Invoice: 'xsd/ubl/maindoc/UBL-Invoice-2.1.xsd',
  CreditNote: 'xsd/ubl/maindoc/UBL-CreditNote-2.1.xsd',
} as const;

describe.skipIf(folder === undefined)(`official rules (skipped: ${reason})`, () => {
  let work: string;
  const files: { name: string; format: ElectronicFormat; document: DocumentFacts; xml: string }[] = [];

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), 'kontor-en16931-'));
    for (const format of ELECTRONIC_FORMATS) {
      await mkdir(path.join(work, format));
      for (const one of Object.keys(ELECTRONIC_CASES)) {
        for (const kind of ELECTRONIC_KINDS) {
          const document = documentOfCase(one, kind);
          const name = `${one}, ${kind}`.replaceAll(/\W+/g, '-');
          const xml = electronicInvoice(document, format);
          files.push({ name, format, document, xml });
          await writeFile(path.join(work, format, `${name}.xml`), xml);
        }
      }
    }
  });
  afterAll(() => rm(work, { recursive: true, force: true }));

  test.each(ELECTRONIC_FORMATS.flatMap((format) => RULES[format].map((rules) => ({ format, rules }))))(
    'documents of $format pass $rules',
    { timeout: 300_000 },
    async ({ format, rules }) => {
      const results = path.join(work, `${format} ${rules}`);
      await mkdir(results);
      await run('java', [
        '-cp',
        `${folder}/saxon/*`,
        'net.sf.saxon.Transform',
        `-s:${path.join(work, format)}`,
        `-xsl:${path.join(folder!, `${rules}.xslt`)}`,
        `-o:${results}`,
      ]);
      const reports = await readdir(results);
      expect(reports.length).toBe(files.filter((file) => file.format === format).length);
      const failed: string[] = [];
      for (const report of reports) {
        const text = await readFile(path.join(results, report), 'utf8');
        expect(text).toContain('svrl:fired-rule');
        for (const [, attributes, inner] of text.matchAll(
          /<svrl:(?:failed-assert|successful-report)\b([^>]*)>([\s\S]*?)<\/svrl:(?:failed-assert|successful-report)>/g,
        )) {
          const said = /<svrl:text[^>]*>([\s\S]*?)<\/svrl:text>/.exec(inner!)?.[1] ?? '';
          const flag = /\b(?:flag|role)="(\w+)"/.exec(attributes!)?.[1] ?? 'fatal';
          failed.push(`${report} ${flag}: ${said.trim().slice(0, 200)}`);
        }
      }
      expect(failed.filter((line) => !/^\S+ information:/.test(line))).toEqual([]);
    },
  );

  test('all documents have what their formats demand', () => {
    for (const { name, format, document } of files) {
      expect([name, format, missingFacts(document, format)]).toEqual([name, format, []]);
    }
  });

  test('all documents fit the XML schemas of UN/CEFACT and OASIS', { timeout: 300_000 }, async () => {
    for (const [root, schema] of Object.entries(SCHEMAS)) {
      const ofSchema = files.filter(({ xml }) => new RegExp(`^<(?:rsm:)?${root} `, 'm').test(xml));
      expect(ofSchema.length).toBeGreaterThan(0);
      await run('xmllint', [
        '--noout',
        '--schema',
        path.join(folder!, schema),
        ...ofSchema.map(({ name, format }) => path.join(work, format, `${name}.xml`)),
      ]);
    }
  });
});
