-- Webhooks: addresses of apps that are called when something happens in a shop (src/shops/webhooks/). Each webhook reads
-- the event log with a position of its own, so that nothing is written for it when an order is placed.

-- After a failed delivery all webhooks of the app pause for a minute, because they usually lead to the same server.
alter table app add column deliveries_paused_until timestamptz;

create table webhook (
  shop_id text not null,
  webhook_id uuid not null,
  -- null: the app was uninstalled, and the webhook is deleted as soon as it has delivered that last event.
  app_id uuid,
  uninstalled_app_id uuid,
  event_type text not null,
  callback_url text not null,
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- All events up to here are delivered, have a row in webhook_delivery that waits, or are of other types.
  position bigint not null,
  -- When the first of the waiting deliveries is due; null: none waits.
  next_try_at timestamptz,
  -- Sealed with the key of the installation. null: a restored shop, whose secret no key opens.
  secret_sealed bytea,
  -- Signs as well until then, so that a receiver can change to the new secret without losing a delivery.
  former_secret_sealed bytea,
  former_secret_until timestamptz,
  -- A copy of the app's client secret, made when the app was uninstalled.
  client_secret_sealed bytea,
  -- The process that delivers. Only who has this lease may move the position.
  lease_id uuid,
  leased_until timestamptz,
  constraint webhook_pkey primary key (shop_id, webhook_id),
  constraint webhook_owner check ((app_id is null) <> (uninstalled_app_id is null)),
  constraint webhook_event_type check (length(event_type) between 1 and 40),
  constraint webhook_callback_url check (length(callback_url) between 1 and 2000)
);

alter table webhook add constraint webhook_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table webhook add constraint webhook_app foreign key (shop_id, app_id) references app (shop_id, app_id)
  on delete cascade;

-- The list of an app, oldest first.
create index webhook_of_app on webhook (shop_id, app_id, created_at, webhook_id);

-- What became of an event at a webhook. One row for each event, however often it is sent.
create table webhook_delivery (
  shop_id text not null,
  webhook_id uuid not null,
  position bigint not null,
  -- Of the event: later events of the same resource wait for this one.
  resource_id uuid,
  status text not null,
  attempts integer not null,
  -- When it is sent again; null: it does not wait, or it waits for an earlier event of its resource.
  next_try_at timestamptz,
  -- Of the event, so that both are kept for the same time.
  created_at timestamptz not null,
  tried_at timestamptz,
  delivered_at timestamptz,
  -- Of the last attempt: what the receiver said.
  status_code integer,
  milliseconds integer,
  answer text,
  error text,
  constraint webhook_delivery_pkey primary key (shop_id, webhook_id, position),
  constraint webhook_delivery_status check (status in ('delivered', 'waiting', 'failed'))
);

alter table webhook_delivery add constraint webhook_delivery_webhook foreign key (shop_id, webhook_id)
  references webhook (shop_id, webhook_id) on delete cascade;

-- Few rows: what is delivered at once is never in it.
create index webhook_delivery_open on webhook_delivery (shop_id, webhook_id, position) where status <> 'delivered';

-- The clean-up finds old deliveries of all shops by it.
create index webhook_delivery_created_at on webhook_delivery (created_at);
