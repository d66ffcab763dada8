import type { Server } from '../processes.ts';
import type { Call, Step } from '../targets.ts';

/**
 * Another shop system that is installed on this machine. Its adapter is one file: how it is started on an empty database with
 * these products, and which calls do the same jobs as ours.
 */
export interface Peer {
  name: string;
  start(setup: PeerSetup): Promise<PeerShop>;
}

export interface PeerSetup {
  /** Where it is installed. */
  folder: string;
  /** An empty one, in the PostgreSQL that Kontor uses too. */
  database: { host: string; port: number; user: string; password: string; database: string };
  products: readonly PeerProduct[];
  /** A word that every twentieth product has in its name. */
  searched: string;
  /** For files of this run. */
  workFolder: string;
  /** Starts a file of ours, compiled, with node; it is there when the path `probe` answers. */
  start: (
    name: string,
    words: string[],
    probe: string,
    environment: Record<string, string>,
    startsWithin?: number,
  ) => Promise<Server>;
}

export interface PeerProduct {
  number: string;
  name: string;
  description: string;
  /** In cents. */
  price: number;
}

export interface PeerShop {
  version: string;
  origin: string;
  jobs: Record<Job, JobCalls>;
}

/** What a shop system is asked for most. */
export const JOBS = ['product', 'list of 20', 'search', 'checkout'] as const;
export type Job = (typeof JOBS)[number];

/** Calls that the connections share, or the steps of a flow that each of them goes through. */
export type JobCalls = { calls: Call[] } | { flow: Step[] };
