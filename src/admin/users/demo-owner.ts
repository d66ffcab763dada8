/** The owner of the demo shop, whom everybody on this machine may be. Nobody chooses a password for it. */
export const DEMO_OWNER = 'owner@demo.localhost';
