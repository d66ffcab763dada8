-- Jobs are done after the response was sent, such as emails. A job is inserted in the transaction of its cause, so that
-- it exists if, and only if, its cause does. The table takes the place of the schema pgboss; the clean-up moves what
-- waits there (src/platform/jobs/pg-boss.ts).
create table job (
  shop_id text not null,
  job_id uuid not null,
  -- Names the worker that runs it.
  queue text not null,
  content jsonb not null,
  created_at timestamptz not null,
  -- When a worker may take it. Whoever takes it moves this to the end of its lease: a process that died leaves a job
  -- that is due again by itself. null: the job has failed for the last time.
  run_at timestamptz,
  -- When the worker that runs it has taken it; null: none runs it.
  taken_at timestamptz,
  -- How often it was taken.
  attempts smallint not null,
  failed_at timestamptz,
  -- Why the last attempt failed. It may contain an address, as the content does: both end with the row.
  error text,
  constraint job_pkey primary key (shop_id, job_id),
  -- Nobody would run the jobs of a queue that has no worker, so that a new queue is added here.
  constraint job_queue check (queue in ('mail')),
  constraint job_content check (pg_column_size(content) <= 8388608),
  constraint job_attempts check (attempts between 0 and 13),
  constraint job_failed check ((run_at is null) = (failed_at is not null)),
  constraint job_error check (length(error) <= 2000)
);

alter table job add constraint job_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The worker reads what is due over all shops, and lets the shops take turns.
create index job_due on job (queue, shop_id, run_at) where run_at is not null;

-- The clean-up deletes failed jobs.
create index job_failed_at on job (failed_at) where failed_at is not null;
