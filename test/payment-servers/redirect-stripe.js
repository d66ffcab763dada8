import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded by Node before a service that is the one under test, unchanged (`--import`): its requests to Stripe go to the
 * server of the test on this machine instead.
 */
const { request } = https;
const own = {
  protocol: 'http:',
  host: '127.0.0.1',
  port: Number(process.env['STRIPE_TEST_PORT']),
  agent: http.globalAgent,
};
https.request = (options, ...rest) =>
  options.host === 'api.stripe.com'
    ? http.request(Object.assign({}, options, own), ...rest)
    : request(options, ...rest);
syncBuiltinESMExports();
