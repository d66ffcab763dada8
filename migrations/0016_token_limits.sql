-- A token may end at a time, and may be valid from some networks only.
alter table token add column expires_at timestamptz;

-- As text in CIDR notation; null: from anywhere.
alter table token add column networks text[];

alter table token add constraint token_networks check (cardinality(networks) between 1 and 50);
