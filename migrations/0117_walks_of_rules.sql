-- A schedule can be about each order: how far its walk has come, and where it ends. null: no walk is under way. Ids begin
-- with their moment, so what comes later is met by the next walk.
alter table rule add column walk_after uuid;
alter table rule add column walk_until uuid;
alter table rule add constraint rule_walk check ((walk_after is null) = (walk_until is null));

-- Why the service has switched it off, as codes that everybody reads in their language; the texts beside them are for
-- programs, and all that is there of before.
alter table rule add column paused_reason jsonb;
alter table rule add constraint rule_paused_reason check (length(paused_reason::text) <= 4000);
alter table rule_run add column reason jsonb;
alter table rule_run add constraint rule_run_reason check (length(reason::text) <= 4000);
