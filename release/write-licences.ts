/** `npm run licences`: writes THIRD-PARTY-LICENSES.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installedPackages, licencesPage } from './licences.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const installed = installedPackages(readFileSync(`${root}package-lock.json`, 'utf8'));
writeFileSync(`${root}THIRD-PARTY-LICENSES.md`, licencesPage(installed, root));
