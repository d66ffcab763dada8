-- The XML of an electronic document, where it is a file of its own. null: it is inside of the PDF, or there is none.
alter table order_document add column xml bytea;

-- Documents are kept for ten years: an order with documents cannot be deleted. Only the end of the whole shop deletes
-- them. The rows that are there kept the former constraints, so nothing has to be checked.
alter table order_document drop constraint order_document_order;
alter table order_document add constraint order_document_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) not valid;
alter table order_document add constraint order_document_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade not valid;

-- The account at a provider that brings documents into the Peppol network, sealed as those of payments are. None: they
-- go by email.
create table transport_account (
  shop_id text not null,
  provider text not null,
  fields_sealed bytea not null,
  updated_at timestamptz not null,
  constraint transport_account_pkey primary key (shop_id),
  constraint transport_account_shop foreign key (shop_id) references shop (shop_id) on delete cascade
);

-- The way of a document into the network.
create table document_delivery (
  shop_id text not null,
  document_id uuid not null,
  provider text not null,
  state text not null,
  -- The provider's id of the document. null: it does not have it yet.
  reference text,
  attempts bigint not null,
  -- When the next step is due; null: it has ended.
  due_at timestamptz,
  error text,
  updated_at timestamptz not null,
  constraint document_delivery_pkey primary key (shop_id, document_id),
  constraint document_delivery_state check (state in ('waiting', 'stored', 'sending', 'delivered', 'failed')),
  constraint document_delivery_document foreign key (shop_id, document_id)
    references order_document (shop_id, document_id) on delete cascade
);

create index document_delivery_due on document_delivery (shop_id, due_at) where due_at is not null;
