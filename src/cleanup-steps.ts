import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config.ts';
import type { CleanupStep } from './operation/cleanup.ts';

/** What the hourly clean-up does: each module's own steps, one after the other in this order. */
export function cleanupSteps(_config: Config, _log: FastifyBaseLogger): CleanupStep[] {
  return [];
}
