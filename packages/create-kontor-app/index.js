#!/usr/bin/env node
/**
 * `npm create kontor-app my-app`: makes a folder with an app for Kontor shops. It copies the files of `template`, installs
 * nothing and calls no other machine.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HELP = `Usage: npm create kontor-app FOLDER

Makes a folder with an app for Kontor shops: TypeScript, tests, a page in the admin, a webhook, and a call while the
customer waits.
`;

/** A problem that the one who called can solve. */
class UsageProblem extends Error {}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageProblem)) throw error;
  process.stderr.write(`create-kontor-app: ${error.message}\n`);
  process.exitCode = 2;
}

function main(words) {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(HELP);
    return;
  }
  const option = words.find((word) => word.startsWith('-'));
  if (option !== undefined) {
    throw new UsageProblem(`there is no option ${option}. See: npm create kontor-app -- --help`);
  }
  if (words.length > 1) throw new UsageProblem(`one folder, please: ${words.join(' ')}`);
  const place = checkedFolder(words[0] ?? 'my-app');
  write(place, path.basename(place));
  process.stdout.write(nextSteps(path.relative('', place)));
}

/** Its name becomes the name of a package. */
function checkedFolder(folder) {
  const place = path.resolve(folder);
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(path.basename(place))) {
    throw new UsageProblem(
      `${JSON.stringify(folder)} cannot be the folder: its name is that of the package, 1 to 63 of a-z, 0-9 and -, a letter or digit first.`,
    );
  }
  if (existsSync(place) && readdirSync(place).length > 0) {
    throw new UsageProblem(`${folder} is not empty: choose another folder.`);
  }
  return place;
}

function write(place, name) {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const { version } = JSON.parse(readFileSync(path.join(here, 'package.json'), 'utf8'));
  mkdirSync(place, { recursive: true });
  cpSync(path.join(here, 'template'), place, { recursive: true });
  // npm leaves a .gitignore out of a package.
  renameSync(path.join(place, 'gitignore'), path.join(place, '.gitignore'));
  fill(path.join(place, 'package.json'), { NAME: name, VERSION: version });
  fill(path.join(place, 'README.md'), { NAME: name });
  fill(path.join(place, 'src/manifest.ts'), { NAME: title(name) });
}

function fill(file, values) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => values[key]),
  );
}

/** `order-notes`: Order notes */
function title(name) {
  const words = name.replaceAll('-', ' ').trim();
  return words[0].toUpperCase() + words.slice(1);
}

function nextSteps(place) {
  return `
  ${place} is ready. Next:

    cd ${place}
    npm install
    npm test
    npm run dev

  Then install it in a shop on this machine, from the folder of that shop:

    npx kontor app dev SHOP http://localhost:3000

`;
}
