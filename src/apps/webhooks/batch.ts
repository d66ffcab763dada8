import type { EventRow } from '../../platform/events/queries.ts';
import type { DeliveryAttempt } from './sending.ts';

/** Seconds after a failed attempt until the next one. After the last of them the webhook is deactivated. */
const RETRIES = [60, 180, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 50_400, 86_400];

/** Deliveries that are retried in one batch. */
const MAX_RETRIED = 100;

/** A delivery that was recorded before and is still to be made. */
export interface WaitingDelivery {
  position: number;
  resourceId: string | null;
  attempts: number;
  /** null: as soon as no earlier delivery of its resource is waiting. */
  nextTryAt: Date | null;
}

export interface DeliveryTask {
  position: number;
  resourceId: string | null;
  /** Failed attempts. */
  attempts: number;
}

export interface DeliveryPlan {
  /** Deliveries that can be sent concurrently. Events of one resource form one lane, sent one after the other. */
  lanes: DeliveryTask[][];
  /** New events that wait for an earlier one of their resource. */
  blocked: EventRow[];
}

/** Decides what can be sent now: `waiting` and `events` are in the order of their positions. */
export function planBatch(
  waiting: readonly WaitingDelivery[],
  events: readonly EventRow[],
  now: Date,
): DeliveryPlan {
  const lanes = new Map<string | null, DeliveryTask[]>();
  const blocked = new Set<string | null>();
  let retried = 0;
  for (const delivery of waiting) {
    const { resourceId, nextTryAt } = delivery;
    const lane = lanes.get(resourceId);
    const isDue = lane !== undefined || nextTryAt === null || nextTryAt <= now;
    if (blocked.has(resourceId) || !isDue || retried === MAX_RETRIED) {
      blocked.add(resourceId);
      continue;
    }
    retried++;
    if (lane) lane.push(delivery);
    else lanes.set(resourceId, [delivery]);
  }
  const later: EventRow[] = [];
  for (const event of events) {
    const { position, resourceId } = event;
    const task = { position, resourceId, attempts: 0 };
    const lane = lanes.get(resourceId);
    if (blocked.has(resourceId)) later.push(event);
    else if (lane) lane.push(task);
    else lanes.set(resourceId, [task]);
  }
  return { lanes: [...lanes.values()], blocked: later };
}

/** A delivery as it is stored after a batch. */
export interface DeliveryRecord extends DeliveryTask {
  status: 'delivered' | 'waiting' | 'failed';
  nextTryAt: Date | null;
  triedAt: Date | null;
  /** null: there was no attempt. */
  attempt: DeliveryAttempt | null;
}

export interface BatchOutcome {
  records: DeliveryRecord[];
  /** How far the webhook has come: all new events up to here are recorded. */
  position: number;
  hasFailed: boolean;
  /** Nothing is left to try: the webhook is deactivated. */
  isLast: boolean;
}

/**
 * Decides what is stored after a batch. After a failure nothing more is sent, so some new events may remain: those
 * before the last one sent are stored as waiting, and the position moves to that one. Without a failure it moves to
 * `next`.
 */
export function outcomeOf(
  { lanes, blocked }: DeliveryPlan,
  events: readonly EventRow[],
  results: ReadonlyMap<number, DeliveryAttempt>,
  { position, next, now }: { position: number; next: number; now: Date },
): BatchOutcome {
  const tasks = lanes.flat();
  const isAllSent = tasks.every((task) => results.has(task.position));
  const reached = isAllSent
    ? next
    : Math.max(
        position,
        ...events.filter((event) => results.has(event.position)).map((event) => event.position),
      );
  const unsent = (task: DeliveryTask): DeliveryRecord => ({
    ...task,
    status: 'waiting',
    nextTryAt: null,
    triedAt: null,
    attempt: null,
  });
  const isNew = (task: DeliveryTask) => task.position > position;
  const records = [
    ...tasks.flatMap((task): DeliveryRecord[] => {
      const attempt = results.get(task.position);
      if (attempt) return [tried(task, attempt, now)];
      return isNew(task) && task.position <= reached ? [unsent(task)] : [];
    }),
    ...blocked
      .filter((event) => event.position <= reached)
      .map((event) => unsent({ position: event.position, resourceId: event.resourceId, attempts: 0 })),
  ];
  return {
    records,
    position: reached,
    hasFailed: records.some(({ attempt }) => attempt && !attempt.isDelivered),
    isLast: records.some(({ status }) => status === 'failed'),
  };
}

function tried(task: DeliveryTask, attempt: DeliveryAttempt, now: Date): DeliveryRecord {
  const attempts = task.attempts + 1;
  const pause = RETRIES[attempts - 1];
  const { position, resourceId } = task;
  const made = { position, resourceId, attempts, triedAt: now, attempt };
  if (attempt.isDelivered) return { ...made, status: 'delivered', nextTryAt: null };
  if (pause === undefined) return { ...made, status: 'failed', nextTryAt: null };
  return { ...made, status: 'waiting', nextTryAt: new Date(now.getTime() + pause * 1000) };
}
