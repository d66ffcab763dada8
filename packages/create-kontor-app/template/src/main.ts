import { createApp } from './app.ts';
import { openStore } from './store.ts';

const { PORT = '3000', DATA = 'data', KONTOR_URL = 'http://localhost:8080' } = process.env;
const app = createApp({ store: await openStore(DATA), origins: KONTOR_URL.split(',') });
app.listen(Number(PORT), () => console.log(`The app is at http://localhost:${PORT}`));
