-- Pages load the scripts of apps only for visitors who allow it. A script without which the shop does not work, such
-- as one that asks for consent itself, says so here; it is loaded for everybody only if the merchant agrees in the
-- settings too.
alter table script_tag add column necessary boolean not null default false;
