-- The custom fields of its subject are sent with each event. Off: the body is the contract's, to the byte.
alter table webhook add column includes_fields boolean not null default false;
