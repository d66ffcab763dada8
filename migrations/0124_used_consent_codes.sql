-- The connection that a code was exchanged for. A code that comes a second time was stolen before one of the two, so it ends
-- that connection. null: nobody has exchanged it. It ends with the code, after some minutes.
alter table consent_code add column app_id uuid;

alter table consent_code add constraint consent_code_app foreign key (shop_id, app_id)
  references connected_assistant (shop_id, app_id) on delete cascade;

-- One connection has one code: a newer one replaces it.
create unique index consent_code_app on consent_code (shop_id, app_id) where app_id is not null;
