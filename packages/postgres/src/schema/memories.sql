-- Memory files, and other small texts that processes share. A change locks the row of its place first: what a statement sees after the lock
-- is what was there when it was taken.

create table strata.memory_head (
  tenant text not null,
  place text collate "C" not null,
  version bigint not null default 0,
  consolidated float8, -- when that was done last, in milliseconds
  primary key (tenant, place)
) with (fillfactor = 70);

create table strata.memory_file (
  tenant text not null,
  place text collate "C" not null,
  path text collate "C" not null,
  text bytea not null,
  version bigint not null,
  modified timestamptz not null default clock_timestamp(),
  primary key (tenant, place, path)
);

select strata.isolate('strata.memory_head');
select strata.isolate('strata.memory_file');
select strata.compress('strata.memory_file', 'text');

-- Changes that were not made, by their paths. Nothing: all were. p_any: whatever is there; otherwise p_expected must be, or nothing.
create function strata.memory_install(
  p_tenant text, p_call uuid, p_place text, p_paths text[], p_texts bytea[], p_any boolean[], p_expected bytea[])
returns text language plpgsql as $$
declare
  v_version bigint;
  v_changed text;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.memory_head (tenant, place) values (p_tenant, p_place) on conflict do nothing;
  select h.version + 1 into v_version from strata.memory_head h where h.tenant = p_tenant and h.place = p_place for update;
  if strata.was_done(p_tenant, p_call) then return null; end if;
  select json_agg(u.path)::text into v_changed
    from unnest(p_paths, p_any, p_expected) as u (path, is_any, expected)
    left join strata.memory_file f on f.tenant = p_tenant and f.place = p_place and f.path = u.path
    where not u.is_any and f.text is distinct from u.expected;
  if v_changed is not null then return v_changed; end if;
  perform strata.note_done(p_tenant, p_call);
  delete from strata.memory_file f using unnest(p_paths, p_texts) as u (path, text)
    where f.tenant = p_tenant and f.place = p_place and f.path = u.path and u.text is null;
  insert into strata.memory_file as f (tenant, place, path, text, version)
    select p_tenant, p_place, u.path, u.text, v_version from unnest(p_paths, p_texts) as u (path, text) where u.text is not null
    on conflict (tenant, place, path) do update set text = excluded.text, version = excluded.version, modified = clock_timestamp()
      where f.text <> excluded.text;
  update strata.memory_head h set version = v_version where h.tenant = p_tenant and h.place = p_place;
  return null;
end $$;

create function strata.memory_version(p_tenant text, p_place text) returns bigint language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select h.version from strata.memory_head h where h.tenant = p_tenant and h.place = p_place);
end $$;

-- Files of a place, in one state of it. p_folders: their beginnings, such as "daily/"; an empty one means all without a part that starts with a
-- dot. Texts are left out that are larger than p_most, or whose version the reader has.
create function strata.memory_read(
  p_tenant text, p_place text, p_folders text[], p_paths text[], p_known_paths text[], p_known_versions bigint[], p_most bigint)
returns table (path text, modified float8, bytes integer, version bigint, text bytea)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select f.path, (extract(epoch from f.modified) * 1000)::float8, length(f.text), f.version,
      case when length(f.text) <= p_most and k.path is null then f.text end
    from strata.memory_file f
    left join unnest(p_known_paths, p_known_versions) as k (path, version) on k.path = f.path and k.version = f.version
    where f.tenant = p_tenant and f.place = p_place and (
      f.path = any (p_paths)
      or exists (select from unnest(p_folders) as folder
        where case when folder = '' then f.path !~ '(^|/)[.]' else starts_with(f.path, folder) end))
    order by f.path;
end $$;

create function strata.memory_consolidated(p_tenant text, p_place text) returns float8 language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select h.consolidated from strata.memory_head h where h.tenant = p_tenant and h.place = p_place);
end $$;

create function strata.memory_consolidate(p_tenant text, p_place text, p_at float8) returns void language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.memory_head as h (tenant, place, consolidated) values (p_tenant, p_place, p_at)
    on conflict (tenant, place) do update set consolidated = excluded.consolidated;
end $$;
