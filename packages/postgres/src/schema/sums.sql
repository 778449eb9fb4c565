-- The sums of a project are a text in its memory, `.spent.json`, as in a file store.

create function strata.sums_text(p_sums jsonb) returns bytea language plpgsql as $$
declare
  v_day text := (select max(k.day) from jsonb_object_keys(p_sums) as k (day));
begin
  return convert_to(json_build_object('day', v_day, 'dollars', p_sums -> v_day, 'earlier', p_sums - v_day)::text || e'\n', 'UTF8');
end $$;

-- Who migrates may own the tables without passing their policies. No one adds to a sum meanwhile.
alter table strata.spent no force row level security;
alter table strata.memory_head no force row level security;
alter table strata.memory_file no force row level security;

insert into strata.memory_head as h (tenant, place, version)
  select distinct s.tenant, 'memory/' || s.project, 1 from strata.spent s
  on conflict (tenant, place) do update set version = h.version + 1;
insert into strata.memory_file (tenant, place, path, text, version)
  select h.tenant, h.place, '.spent.json', strata.sums_text(jsonb_object_agg(s.day, s.dollars)), h.version
  from strata.spent s join strata.memory_head h on h.tenant = s.tenant and h.place = 'memory/' || s.project
  group by h.tenant, h.place, h.version;

alter table strata.memory_head force row level security;
alter table strata.memory_file force row level security;
drop table strata.spent;

drop function strata.content_sums(text, text), strata.content_sums_write, strata.content_sums_erase, strata.content_prune;

-- Of a project, if one is named.
create function strata.content_sums(p_tenant text, p_project text) returns table (project text, text bytea) language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select substring(f.place from 8), f.text from strata.memory_file f
    where f.tenant = p_tenant and f.path = '.spent.json' and starts_with(f.place, 'memory/')
      and (p_project is null or f.place = 'memory/' || p_project)
    order by f.place;
end $$;

-- Without names: all but the sums, which are given out, and erased, by themselves.
create or replace function strata.content_memory_erase(p_tenant text, p_place text, p_names text[]) returns void language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.memory_head h set version = h.version + 1,
      consolidated = case when p_names is null or ':consolidated' = any (p_names) then null else h.consolidated end
    where h.tenant = p_tenant and h.place = p_place;
  delete from strata.memory_file f where f.tenant = p_tenant and f.place = p_place
    and (f.path = any (p_names) or (p_names is null and not (f.path = '.spent.json' and starts_with(p_place, 'memory/'))));
end $$;

-- What is over: messages from before that every member has read, and calls whose answers no one waits for.
create function strata.content_prune(p_tenant text, p_before float8, p_counts_only boolean) returns bigint language plpgsql as $$
declare
  v_team record;
  v_count bigint;
  v_messages bigint := 0;
begin
  perform set_config('strata.tenant', p_tenant, true);
  for v_team in select e.tid, min(coalesce(e.cursor, 0)) as reached from strata.member e where e.tenant = p_tenant group by e.tid order by e.tid loop
    if p_counts_only then
      select count(*) into v_count from strata.message m
        where m.tenant = p_tenant and m.tid = v_team.tid and m.n <= v_team.reached and m.sent < to_timestamp(p_before / 1000);
    else
      delete from strata.message m
        where m.tenant = p_tenant and m.tid = v_team.tid and m.n <= v_team.reached and m.sent < to_timestamp(p_before / 1000);
      get diagnostics v_count = row_count;
    end if;
    v_messages := v_messages + v_count;
  end loop;
  if p_counts_only then return v_messages; end if;
  delete from strata.done d where d.tenant = p_tenant and d.at < clock_timestamp() - interval '1 hour';
  delete from strata.holder h where h.tenant = p_tenant and h.until < clock_timestamp() - interval '1 day';
  return v_messages;
end $$;

-- Programs of an earlier version that still run add to sums with these two.
create or replace function strata.spent_on(p_tenant text, p_project text, p_day text) returns float8 language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return coalesce((select (case when s.sums ->> 'day' = p_day then s.sums -> 'dollars' else s.sums -> 'earlier' -> p_day end)::float8
    from (select convert_from(c.text, 'UTF8')::jsonb as sums from strata.content_sums(p_tenant, p_project) as c) as s), 0);
end $$;

create or replace function strata.spend(p_tenant text, p_call uuid, p_project text, p_day text, p_dollars float8) returns float8
language plpgsql as $$
declare
  v_place text := 'memory/' || p_project;
  v_sums jsonb := '{}';
  v_sum float8;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.memory_head (tenant, place) values (p_tenant, v_place) on conflict do nothing;
  perform from strata.memory_head h where h.tenant = p_tenant and h.place = v_place for update;
  v_sum := strata.spent_on(p_tenant, p_project, p_day);
  if strata.was_done(p_tenant, p_call) then return v_sum; end if;
  perform strata.note_done(p_tenant, p_call);
  select coalesce(s.sums -> 'earlier', '{}') || jsonb_build_object(s.sums ->> 'day', s.sums -> 'dollars') into v_sums
    from (select convert_from(c.text, 'UTF8')::jsonb as sums from strata.content_sums(p_tenant, p_project) as c) as s;
  v_sum := v_sum + p_dollars;
  update strata.memory_head h set version = h.version + 1 where h.tenant = p_tenant and h.place = v_place;
  insert into strata.memory_file as f (tenant, place, path, text, version)
    select h.tenant, h.place, '.spent.json', strata.sums_text(coalesce(v_sums, '{}') || jsonb_build_object(p_day, v_sum)), h.version
      from strata.memory_head h where h.tenant = p_tenant and h.place = v_place
    on conflict (tenant, place, path) do update set text = excluded.text, version = excluded.version, modified = clock_timestamp();
  return v_sum;
end $$;
