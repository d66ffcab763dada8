-- Rules of a merchant: when something happens, or at an hour, and if conditions hold, then do something.
create table rule (
  shop_id text not null,
  rule_id uuid not null,
  name text not null,
  is_active boolean not null,
  -- The type of its events; null: it runs by its schedule.
  event_type text,
  -- {"every": "week", "weekday": 1, "hour": 7}
  schedule jsonb,
  -- All conditions must hold; false: one of them.
  needs_all boolean not null,
  -- [{"fact": "total", "operator": "atLeast", "value": "100"}]
  conditions jsonb not null,
  -- [{"kind": "tagOrder", "text": "large"}]
  actions jsonb not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- How far it has come in the event log.
  position bigint not null,
  -- By the clock of the service: the next run of a schedule, or when a rule goes on that ran too often; null: at once.
  due_at timestamptz,
  -- Runs, and calls of addresses, that have failed one after the other.
  failures integer not null default 0,
  call_failures integer not null default 0,
  -- Why the service has switched it off; null: it has not.
  paused text,
  -- The hour in which its runs are counted.
  hour_began_at timestamptz,
  hour_runs integer not null default 0,
  holder uuid,
  leased_until timestamptz,
  constraint rule_pkey primary key (shop_id, rule_id),
  constraint rule_when check (num_nonnulls(event_type, schedule) = 1),
  constraint rule_lengths check (
    length(name) between 1 and 100 and length(event_type) <= 60 and length(schedule::text) <= 500
    and length(conditions::text) <= 40000 and length(actions::text) <= 80000 and length(paused) <= 500),
  constraint rule_paused check (paused is null or not is_active)
);

alter table rule add constraint rule_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

create index rule_active on rule (shop_id, rule_id) where is_active;

-- What a rule has done, without a word about a person.
create table rule_run (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  run_id uuid not null,
  rule_id uuid not null,
  at timestamptz not null,
  -- The position of its event; null: a run by schedule.
  position bigint,
  resource text not null,
  resource_id uuid,
  outcome text not null,
  -- [{"kind": "call", "outcome": "done", "note": "204"}]
  actions jsonb not null,
  -- Why it has failed, in English.
  error text,
  constraint rule_run_pkey primary key (shop_id, run_id),
  constraint rule_run_resource check (resource in ('order', 'product', 'customer', 'shop')),
  constraint rule_run_outcome check (outcome in ('done', 'failed')),
  constraint rule_run_lengths check (length(actions::text) <= 10000 and length(error) <= 500)
);

-- An event runs a rule once, whatever happens to its position.
create unique index rule_run_once on rule_run (shop_id, rule_id, position) where position is not null;

create index rule_run_of_rule on rule_run (shop_id, rule_id, run_id);
create index rule_run_at on rule_run (at);

alter table rule_run add constraint rule_run_rule
  foreign key (shop_id, rule_id) references rule (shop_id, rule_id) on delete cascade;

-- What the people of a shop have to do, as a rule or one of them has noted it.
create table task (
  shop_id text not null,
  -- Begins with its moment.
  task_id uuid not null,
  created_at timestamptz not null,
  text text not null,
  -- What it is about; the shop itself has no id.
  resource text not null,
  resource_id uuid,
  -- The rule that has made it, also after the rule is deleted; null: a person, or an app.
  rule_id uuid,
  done_at timestamptz,
  -- The email address of the person, or the name of the app.
  done_by text,
  constraint task_pkey primary key (shop_id, task_id),
  constraint task_resource check (
    resource in ('order', 'product', 'customer', 'shop') and (resource = 'shop') = (resource_id is null)),
  constraint task_done check ((done_at is null) = (done_by is null)),
  constraint task_lengths check (length(text) between 1 and 500 and length(done_by) <= 254)
);

create index task_open on task (shop_id, task_id) where done_at is null;
create index task_of on task (shop_id, resource_id) where resource_id is not null;
create index task_done_at on task (done_at) where done_at is not null;

alter table task add constraint task_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The addresses that rules call are called from a queue of their own.
alter table job drop constraint job_queue;
alter table job add constraint job_queue check (queue in ('mail', 'mailing', 'rule call'));
