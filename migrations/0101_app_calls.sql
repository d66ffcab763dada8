-- Calls of apps while a customer waits (delivery options, checks of an order) that failed or were slow, for the app and
-- the merchant to see. A process writes a few of them per app and minute, and old ones are deleted.
create table app_call_log (
  shop_id text not null,
  app_id uuid not null,
  entry_id uuid not null,
  -- What the app was asked, such as deliveryOptions.
  kind text not null,
  at timestamptz not null,
  milliseconds integer not null,
  -- null: there was no answer.
  status_code integer,
  -- Why the answer could not be used, in English; null: it was slow.
  problem text,
  constraint app_call_log_pkey primary key (shop_id, app_id, entry_id),
  constraint app_call_log_kind check (length(kind) between 1 and 40),
  constraint app_call_log_milliseconds check (milliseconds >= 0),
  constraint app_call_log_problem check (length(problem) between 1 and 300)
);
alter table app_call_log add constraint app_call_log_app foreign key (shop_id, app_id)
  references app (shop_id, app_id) on delete cascade;

-- For the clean-up.
create index app_call_log_at on app_call_log (at);
