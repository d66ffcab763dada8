/**
 * For pages that an app adds to the admin of a shop: the bridge to the page that frames them, and, for the back end of
 * the app, the check of the tokens that it brings. It needs nothing but a browser, or Node 20.
 */

export {
  claimedClientId,
  FrameTokenError,
  verifyFrameToken,
  type FrameToken,
  type VerifyOptions,
} from './frame-token.ts';
export {
  CallVerificationError,
  signAnswer,
  verifyCall,
  type CallKind,
  type CallSecrets,
  type DeliveryAnswer,
  type DeliveryQuestion,
  type LinePriceAnswer,
  type LinePriceQuestion,
  type PaymentChange,
  type PaymentChangeAnswer,
  type PaymentQuestion,
  type PaymentRefund,
  type PaymentRefundAnswer,
  type PaymentRefusal,
  type PaymentStart,
  type PaymentStartAnswer,
  type TaxAnswer,
  type TaxQuestion,
  type ShopCall,
  type SignedBody,
} from './calls.ts';

/** What the frame is shown for. */
export interface FrameContext {
  kind: 'page' | 'block' | 'action';
  /** The name in the manifest. */
  name: string;
  /** The order, product or customer of a block; the orders of an action. */
  ids: string[];
  /** The language of the reader: `en`, `de` or `fr`. */
  language: string;
}

export interface PickedProduct {
  id: string;
  name: string;
  number: string;
}

export interface PickedOrder {
  id: string;
  number: string;
}

export interface AdminFrame {
  context: FrameContext;
  /** The origin of the admin. */
  origin: string;
  /** A token that is valid for some more seconds; get one for each call of your back end. */
  token(): Promise<string>;
  /** Sets the height of the frame in pixels. */
  resize(height: number): Promise<void>;
  /** Keeps the frame as high as its content; returns what ends that. */
  resizeWithContent(): () => void;
  /** Leads to a page of the admin, after a click: `/orders/0193A5F0-...`. */
  navigate(path: string): Promise<void>;
  /** Opens an https address in another tab, after a click: the page of a carrier. */
  open(address: string): Promise<void>;
  /**
   * Saves a file of at most 20 MB, after a click: PDF, PNG, JPEG, CSV or plain text, by the type of the blob. The name gets
   * its ending.
   */
  save(file: Blob, name: string): Promise<void>;
  /** Shows a short text, with the name of the app before it. */
  toast(text: string): Promise<void>;
  /** Lets people choose; empty, when they choose nothing. */
  pickProducts(options?: { several?: boolean }): Promise<PickedProduct[]>;
  pickOrders(options?: { several?: boolean }): Promise<PickedOrder[]>;
  /** Whether leaving the page loses something: the browser then asks first. */
  setUnsaved(isUnsaved: boolean): Promise<void>;
}

/** The admin has refused what the frame has asked for, or has not answered. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

export interface ConnectOptions {
  /**
   * The origins of the admins that may frame the page. Absent: the one that does; the back end then relies on the issuer
   * of the token alone.
   */
  origins?: readonly string[];
  /** Milliseconds. */
  timeout?: number;
}

const VERSION = 1;
const TIMEOUT = 10_000;

interface Message {
  kontor: number;
  type: string;
  id?: number;
  value?: unknown;
  error?: string;
  token?: string;
  context?: FrameContext;
}

/**
 * What is used of a browser. Its own types would come with the whole library of the DOM, also where there is none.
 */
interface Browser {
  parent: Frame;
  addEventListener(type: 'message', listener: (event: Heard) => void): void;
  removeEventListener(type: 'message', listener: (event: Heard) => void): void;
  document: { documentElement: { offsetHeight: number } };
  ResizeObserver: new (listener: () => void) => { observe(element: object): void; disconnect(): void };
}

interface Frame {
  postMessage(message: object, origin: string): void;
}

interface Heard {
  data: Message | null;
  source: unknown;
  origin: string;
}

const browser = globalThis as unknown as Browser;

/** Says that the page is there, and waits for the admin. */
export function connectToAdmin({ origins, timeout = TIMEOUT }: ConnectOptions = {}): Promise<AdminFrame> {
  const { parent } = browser;
  if ((parent as unknown) === globalThis) return Promise.reject(new FrameError('The page is not in a frame'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      browser.removeEventListener('message', hear);
      reject(new FrameError('The admin has not answered'));
    }, timeout);
    const hear = ({ data, source, origin }: Heard) => {
      if (source !== parent || data?.kontor !== VERSION || data.type !== 'welcome') return;
      if (origins && !origins.includes(origin)) return;
      clearTimeout(timer);
      browser.removeEventListener('message', hear);
      resolve(frameOf(parent, origin, data.context!));
    };
    browser.addEventListener('message', hear);
    // Nothing in it is a secret, so it may go to any page that frames this one.
    parent.postMessage({ kontor: VERSION, type: 'ready' }, '*');
  });
}

function frameOf(parent: Frame, origin: string, context: FrameContext): AdminFrame {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  browser.addEventListener('message', ({ data, source, origin: from }: Heard) => {
    if (source !== parent || from !== origin || data?.kontor !== VERSION || data.type !== 'answer') return;
    const asked = waiting.get(data.id!);
    if (!asked) return;
    waiting.delete(data.id!);
    if (data.error === undefined) asked.resolve(data.value);
    else asked.reject(new FrameError(`The admin has refused it: ${data.error}`));
  });
  const ask = (type: string, values: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      parent.postMessage({ kontor: VERSION, type, id, ...values }, origin);
    });
  const tell = async (type: string, values: object) => void (await ask(type, values));
  const frame: AdminFrame = {
    context,
    origin,
    token: () => ask('token') as Promise<string>,
    resize: (height) => tell('size', { height }),
    resizeWithContent: () => {
      const fit = () => void frame.resize(browser.document.documentElement.offsetHeight);
      const observer = new browser.ResizeObserver(fit);
      observer.observe(browser.document.documentElement);
      return () => observer.disconnect();
    },
    navigate: (path) => tell('navigate', { path }),
    open: (address) => tell('open', { address }),
    save: (file, name) => tell('save', { file, name }),
    toast: (text) => tell('toast', { text }),
    pickProducts: ({ several = false } = {}) =>
      ask('pick', { of: 'product', several }) as Promise<PickedProduct[]>,
    pickOrders: ({ several = false } = {}) => ask('pick', { of: 'order', several }) as Promise<PickedOrder[]>,
    setUnsaved: (isUnsaved) => tell('unsaved', { isUnsaved }),
  };
  return frame;
}
