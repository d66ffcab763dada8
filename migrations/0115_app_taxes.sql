-- The taxes that apps have given for the lines of a cart, its delivery and its payment, stored as the prices of lines are:
-- rates only, because amounts are computed by the totals. null: no app was asked.
alter table cart add column app_taxes jsonb;
alter table cart add constraint cart_app_taxes check (length(app_taxes::text) <= 300000);
