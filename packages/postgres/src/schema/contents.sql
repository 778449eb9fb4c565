-- What there is, given out as it is kept and taken in again: for moving, erasing and retention. Everything is named by its address, and every
-- function may be called again if its answer was lost.

-- Of a project, if one is named. Files as JSON: names and sizes.
create function strata.content_journals(p_tenant text, p_project text, p_after bigint, p_most integer)
returns table (jid bigint, project text, under text, id text, bytes bigint, touched float8, is_open boolean, files text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select j.jid, j.project, j.under, j.id, j.bytes, (extract(epoch from j.touched) * 1000)::float8, strata.is_alive(p_tenant, j.holder),
      (select json_agg(json_build_array(f.name, f.bytes) order by f.name)::text from (
        select case when b.name = '.set-aside' then 'set-aside' else 'blob/' || b.name end as name, length(b.data) as bytes
          from strata.blob b where b.tenant = p_tenant and b.jid = j.jid
        union all select 'notes', length(n.text) from strata.notes n where n.tenant = p_tenant and n.jid = j.jid
        union all select 'checkpoint', length(c.value) from strata.checkpoint c where c.tenant = p_tenant and c.jid = j.jid) as f)
    from strata.journal j
    where j.tenant = p_tenant and j.jid > p_after and (p_project is null or j.project = p_project) order by j.jid limit p_most;
end $$;

create function strata.content_lines(p_tenant text, p_project text, p_under text, p_id text, p_from bigint, p_most bigint) returns bytea
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select strata.bytes_between(p_tenant, j.jid, p_from, p_from + p_most) from strata.journal j
    where j.tenant = p_tenant and j.project = p_project and j.under = p_under and j.id = p_id);
end $$;

create function strata.content_files(p_tenant text, p_project text, p_under text, p_id text, p_names text[])
returns table (name text, data bytea)
language plpgsql as $$
#variable_conflict use_column
declare
  v_jid bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  select j.jid into v_jid from strata.journal j where j.tenant = p_tenant and j.project = p_project and j.under = p_under and j.id = p_id;
  return query
    select u.name, b.data from unnest(p_names) as u (name) join strata.blob b on b.tenant = p_tenant and b.jid = v_jid
      and b.name = case when u.name = 'set-aside' then '.set-aside' when starts_with(u.name, 'blob/') then substring(u.name from 6) end
    union all select 'notes', n.text from strata.notes n where n.tenant = p_tenant and n.jid = v_jid and 'notes' = any (p_names)
    union all select 'checkpoint', c.value from strata.checkpoint c where c.tenant = p_tenant and c.jid = v_jid and 'checkpoint' = any (p_names);
end $$;

-- Answers "written", "held", "size N" or "file NAME": what is there differs.
create function strata.content_write(
  p_tenant text, p_project text, p_under text, p_id text, p_at bigint, p_lines bytea, p_lengths integer[], p_keys bytea[], p_boundary integer[],
  p_facts text, p_words text, p_touched float8, p_names text[], p_data bytea[], p_replaces boolean[])
returns text language plpgsql as $$
declare
  v_journal strata.journal;
  v_name text;
  v_data bytea;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.journal (tenant, project, under, id) values (p_tenant, p_project, p_under, p_id) on conflict do nothing;
  select * into v_journal from strata.journal j
    where j.tenant = p_tenant and j.project = p_project and j.under = p_under and j.id = p_id for update;
  if strata.is_alive(p_tenant, v_journal.holder) then return 'held'; end if;
  for v_at in 1 .. cardinality(p_names) loop
    select f.data into v_data from strata.content_files(p_tenant, p_project, p_under, p_id, array[p_names[v_at]]) as f;
    if found and not p_replaces[v_at] and v_data <> p_data[v_at] then return 'file ' || p_names[v_at]; end if;
  end loop;
  if p_lines is not null and v_journal.bytes <> p_at then
    if v_journal.bytes <> p_at + length(p_lines)
      or strata.bytes_between(p_tenant, v_journal.jid, p_at, v_journal.bytes) is distinct from p_lines then return 'size ' || v_journal.bytes; end if;
  elsif p_lines is not null then
    insert into strata.line (tenant, jid, at, is_boundary, key, line)
    select p_tenant, v_journal.jid, p_at + part.start, part.n = any (p_boundary), p_keys[part.n::integer],
           substring(p_lines from part.start::integer + 1 for part.length)
    from (select n, length, sum(length) over (order by n) - length as start from unnest(p_lengths) with ordinality as u (length, n)) as part;
    update strata.journal j set bytes = p_at + length(p_lines), boundary = coalesce(
        (select max(l.at) from strata.line l where l.tenant = p_tenant and l.jid = j.jid and l.is_boundary and l.at >= p_at), j.boundary)
      where j.tenant = p_tenant and j.jid = v_journal.jid;
    if p_facts is not null or p_words is not null then
      insert into strata.listing as l (tenant, jid, facts, first_words) values (p_tenant, v_journal.jid, p_facts, p_words)
        on conflict (tenant, jid) do update
          set facts = coalesce(excluded.facts, l.facts), first_words = coalesce(l.first_words, excluded.first_words);
    end if;
  end if;
  if p_touched is not null then
    update strata.journal j set touched = to_timestamp(p_touched / 1000) where j.tenant = p_tenant and j.jid = v_journal.jid;
  end if;
  for v_at in 1 .. cardinality(p_names) loop
    v_name := p_names[v_at];
    if v_name = 'notes' then
      insert into strata.notes (tenant, jid, text) values (p_tenant, v_journal.jid, p_data[v_at])
        on conflict (tenant, jid) do update set text = excluded.text;
    elsif v_name = 'checkpoint' then
      insert into strata.checkpoint (tenant, jid, value) values (p_tenant, v_journal.jid, p_data[v_at])
        on conflict (tenant, jid) do update set value = excluded.value;
    else
      insert into strata.blob (tenant, jid, name, data)
        values (p_tenant, v_journal.jid, case when v_name = 'set-aside' then '.set-aside' else substring(v_name from 6) end, p_data[v_at])
        on conflict (tenant, jid, name) do update set data = excluded.data;
    end if;
  end loop;
  return 'written';
end $$;

-- With its sub-agents, or only some of its files. Every table that has the number of a journal is looked into, also those that come later.
-- Answers "erased", or "held" and the id of one that is open.
create function strata.content_erase(p_tenant text, p_project text, p_under text, p_id text, p_names text[]) returns text
language plpgsql as $$
declare
  v_jids bigint[];
  v_open text;
  v_table text;
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform from strata.journal j where j.tenant = p_tenant and j.project = p_project
    and ((j.under = p_under and j.id = p_id) or (p_under = '' and j.under = p_id)) order by j.jid for update;
  select array_agg(j.jid), min(j.id) filter (where strata.is_alive(p_tenant, j.holder)) into v_jids, v_open
    from strata.journal j where j.tenant = p_tenant and j.project = p_project
      and ((j.under = p_under and j.id = p_id) or (p_names is null and p_under = '' and j.under = p_id));
  if v_open is not null then return 'held ' || v_open; end if;
  if p_names is not null then
    delete from strata.blob b where b.tenant = p_tenant and b.jid = any (v_jids)
      and (case when b.name = '.set-aside' then 'set-aside' else 'blob/' || b.name end) = any (p_names);
    delete from strata.notes n where n.tenant = p_tenant and n.jid = any (v_jids) and 'notes' = any (p_names);
    delete from strata.checkpoint c where c.tenant = p_tenant and c.jid = any (v_jids) and 'checkpoint' = any (p_names);
    return 'erased';
  end if;
  for v_table in select c.oid::regclass::text from pg_class c join pg_namespace s on s.oid = c.relnamespace and s.nspname = 'strata'
    where c.relkind in ('r', 'p') and not c.relispartition and (select count(*) from pg_attribute a
      where a.attrelid = c.oid and a.attname in ('tenant', 'jid') and not a.attisdropped) = 2
  loop
    execute format('delete from %s where tenant = $1 and jid = any ($2)', v_table) using p_tenant, v_jids;
  end loop;
  return 'erased';
end $$;

-- The project of a memory place. Nothing: it is for all projects.
create function strata.place_project(p_place text) returns text language sql immutable as $$
  select case when p_place = 'shared/' then null when starts_with(p_place, 'agent/') then nullif(split_part(p_place, '/', 3), '')
    else split_part(p_place, '/', 2) end
$$;

-- Files without their texts. A place without files has one row, if it was consolidated.
create function strata.content_memories(p_tenant text, p_project text, p_place text, p_path text, p_most integer)
returns table (place text, path text, bytes integer, modified float8, consolidated float8)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select h.place, coalesce(f.path, ''), length(f.text), (extract(epoch from f.modified) * 1000)::float8, h.consolidated
    from strata.memory_head h left join strata.memory_file f on f.tenant = p_tenant and f.place = h.place
    where h.tenant = p_tenant and (h.place, coalesce(f.path, '')) > (p_place collate "C", p_path collate "C")
      and (p_project is null or strata.place_project(h.place) = p_project) and (f.path is not null or h.consolidated is not null)
    order by h.place, coalesce(f.path, '') limit p_most;
end $$;

create function strata.content_memory_files(p_tenant text, p_place text, p_names text[]) returns table (name text, data bytea)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select f.path, f.text from strata.memory_file f where f.tenant = p_tenant and f.place = p_place and f.path = any (p_names)
    union all select ':consolidated', convert_to(to_char(to_timestamp(h.consolidated / 1000) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')
      from strata.memory_head h
      where h.tenant = p_tenant and h.place = p_place and h.consolidated is not null and ':consolidated' = any (p_names);
end $$;

-- The name of a file that differs. Nothing: all were written.
create function strata.content_memory_write(
  p_tenant text, p_place text, p_names text[], p_data bytea[], p_modified float8[], p_replaces boolean[], p_consolidated float8)
returns text language plpgsql as $$
declare
  v_version bigint;
  v_other text;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.memory_head (tenant, place) values (p_tenant, p_place) on conflict do nothing;
  select h.version + 1 into v_version from strata.memory_head h where h.tenant = p_tenant and h.place = p_place for update;
  select u.name into v_other from unnest(p_names, p_data, p_replaces) as u (name, data, replaces)
    join strata.memory_file f on f.tenant = p_tenant and f.place = p_place and f.path = u.name
    where not u.replaces and f.text <> u.data limit 1;
  if v_other is not null then return v_other; end if;
  insert into strata.memory_file as f (tenant, place, path, text, version, modified)
    select p_tenant, p_place, u.name, u.data, v_version, coalesce(to_timestamp(u.modified / 1000), clock_timestamp())
    from unnest(p_names, p_data, p_modified) as u (name, data, modified)
    on conflict (tenant, place, path) do update set text = excluded.text, version = excluded.version, modified = excluded.modified
      where f.text <> excluded.text;
  update strata.memory_head h set version = v_version, consolidated = coalesce(p_consolidated, h.consolidated)
    where h.tenant = p_tenant and h.place = p_place;
  return null;
end $$;

-- The version stays and grows: readers must see that something is gone.
create function strata.content_memory_erase(p_tenant text, p_place text, p_names text[]) returns void language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.memory_head h set version = h.version + 1,
      consolidated = case when p_names is null or ':consolidated' = any (p_names) then null else h.consolidated end
    where h.tenant = p_tenant and h.place = p_place;
  delete from strata.memory_file f where f.tenant = p_tenant and f.place = p_place and (p_names is null or f.path = any (p_names));
end $$;

create function strata.content_teams(p_tenant text, p_project text) returns table (project text, name text, is_open boolean)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select t.project, t.name, exists (select from strata.member e where e.tenant = p_tenant and e.tid = t.tid and strata.is_alive(p_tenant, e.holder))
    from strata.team t where t.tenant = p_tenant and (p_project is null or t.project = p_project)
      and (exists (select from strata.message m where m.tenant = p_tenant and m.tid = t.tid)
        or exists (select from strata.member e where e.tenant = p_tenant and e.tid = t.tid))
    order by t.project, t.name;
end $$;

create function strata.content_messages(p_tenant text, p_project text, p_team text, p_after bigint, p_most integer)
returns table (n bigint, sender text, sequence bigint, receivers text, content text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select m.n, m.sender, m.sequence, to_json(m.receivers)::text, m.content
    from strata.team t join strata.message m on m.tenant = p_tenant and m.tid = t.tid
    where t.tenant = p_tenant and t.project = p_project and t.name = p_team and m.n > p_after order by m.n limit p_most;
end $$;

create function strata.content_members(p_tenant text, p_project text, p_team text, out senders text, out members text, out last bigint) language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select t.last into last from strata.team t where t.tenant = p_tenant and t.project = p_project and t.name = p_team;
  select json_object_agg(s.name, s.sequence)::text into senders from strata.team t join strata.sender s on s.tenant = p_tenant and s.tid = t.tid
    where t.tenant = p_tenant and t.project = p_project and t.name = p_team;
  select json_agg(json_build_object('name', e.name, 'conversation', e.conversation, 'read',
      (select max(m.n) from strata.message m where m.tenant = p_tenant and m.tid = t.tid and m.n <= e.cursor)))::text into members
    from strata.team t join strata.member e on e.tenant = p_tenant and e.tid = t.tid
    where t.tenant = p_tenant and t.project = p_project and t.name = p_team;
end $$;

-- Adds messages after the last one that the caller knows. False: another was sent since.
create function strata.content_team_write(
  p_tenant text, p_project text, p_team text, p_last bigint, p_places bigint[], p_from text[], p_sequences bigint[], p_receivers text[], p_contents text[],
  p_senders text[], p_sent bigint[], p_members text[], p_conversations text[], p_cursors bigint[], p_end bigint)
returns boolean language plpgsql as $$
declare
  v_tid bigint := strata.team_open(p_tenant, p_project, p_team);
  v_last bigint;
  v_end bigint := p_places[cardinality(p_places)];
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform from strata.team t where t.tenant = p_tenant and t.tid = v_tid for update;
  select coalesce(max(m.n), 0) into v_last from strata.message m where m.tenant = p_tenant and m.tid = v_tid;
  if v_last <> p_last and v_last is distinct from v_end then return false; end if;
  insert into strata.message (tenant, tid, n, call, sender, sequence, receivers, content)
    select p_tenant, v_tid, u.n, gen_random_uuid(), u.sender, u.sequence,
      array(select r.name from json_array_elements_text(u.receivers::json) with ordinality as r (name, at) order by r.at), u.content
    from unnest(p_places, p_from, p_sequences, p_receivers, p_contents) as u (n, sender, sequence, receivers, content)
    on conflict do nothing;
  insert into strata.sender as s (tenant, tid, name, sequence) select p_tenant, v_tid, u.name, u.sequence from unnest(p_senders, p_sent) as u (name, sequence)
    on conflict (tenant, tid, name) do update set sequence = greatest(s.sequence, excluded.sequence);
  insert into strata.member as e (tenant, tid, name, conversation, cursor)
    select p_tenant, v_tid, u.name, u.conversation, u.cursor from unnest(p_members, p_conversations, p_cursors) as u (name, conversation, cursor)
    on conflict (tenant, tid, name) do update set cursor = excluded.cursor where not strata.is_alive(p_tenant, e.holder);
  update strata.team t set last = greatest(t.last, coalesce(v_end, 0), p_end), changes = t.changes + 1 where t.tenant = p_tenant and t.tid = v_tid;
  return true;
end $$;

-- Messages at these places lose what they say, and keep their places. Without places: the whole team goes.
create function strata.content_team_erase(p_tenant text, p_project text, p_team text, p_places bigint[]) returns void language plpgsql as $$
declare
  v_tid bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  select t.tid into v_tid from strata.team t where t.tenant = p_tenant and t.project = p_project and t.name = p_team for update;
  if p_places is not null then
    update strata.message m set content = '{}' where m.tenant = p_tenant and m.tid = v_tid and m.n = any (p_places);
    return;
  end if;
  delete from strata.message m where m.tenant = p_tenant and m.tid = v_tid;
  delete from strata.sender s where s.tenant = p_tenant and s.tid = v_tid;
  delete from strata.member e where e.tenant = p_tenant and e.tid = v_tid;
  delete from strata.team t where t.tenant = p_tenant and t.tid = v_tid;
end $$;

create function strata.content_logs(p_tenant text, p_project text) returns table (project text, name text, bytes bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select l.project, l.name, sum(length(l.line) + 1)::bigint from strata.log_line l
    where l.tenant = p_tenant and (p_project is null or l.project = p_project) group by l.project, l.name order by l.project, l.name;
end $$;

-- Answers the size that is there, if it is another than expected.
create function strata.content_log_write(p_tenant text, p_project text, p_name text, p_at bigint, p_lines bytea[]) returns bigint
language plpgsql as $$
declare
  v_size bigint;
  v_added bigint := (select sum(length(u.line) + 1) from unnest(p_lines) as u (line));
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform pg_advisory_xact_lock(hashtextextended(p_tenant || '/' || p_project || '/' || p_name, 0));
  select coalesce(sum(length(l.line) + 1), 0) into v_size from strata.log_line l
    where l.tenant = p_tenant and l.project = p_project and l.name = p_name;
  if v_size = p_at + v_added then return null; end if; -- the answer was lost
  if v_size <> p_at then return v_size; end if;
  insert into strata.log_line (tenant, project, name, line)
    select p_tenant, p_project, p_name, u.line from unnest(p_lines) with ordinality as u (line, n) order by u.n;
  return null;
end $$;

create function strata.content_log_erase(p_tenant text, p_project text, p_name text) returns void language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  delete from strata.log_line l where l.tenant = p_tenant and l.project = p_project and l.name = p_name;
end $$;

create function strata.content_sums(p_tenant text, p_project text) returns table (project text, day text, dollars float8)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select s.project, s.day, s.dollars from strata.spent s
    where s.tenant = p_tenant and (p_project is null or s.project = p_project) order by s.project, s.day;
end $$;

-- False: another sum is there.
create function strata.content_sums_write(p_tenant text, p_project text, p_days text[], p_dollars float8[], p_replaces boolean) returns boolean
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  if not p_replaces and exists (select from strata.spent s join unnest(p_days, p_dollars) as u (day, dollars) on u.day = s.day
    where s.tenant = p_tenant and s.project = p_project and s.dollars <> u.dollars) then return false; end if;
  insert into strata.spent as s (tenant, project, day, dollars) select p_tenant, p_project, u.day, u.dollars from unnest(p_days, p_dollars) as u (day, dollars)
    on conflict (tenant, project, day) do update set dollars = excluded.dollars;
  return true;
end $$;

create function strata.content_sums_erase(p_tenant text, p_project text) returns void language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  delete from strata.spent s where s.tenant = p_tenant and s.project = p_project;
end $$;

-- What is over: messages from before that every member has read, sums of earlier days, and calls whose answers no one waits for.
create function strata.content_prune(p_tenant text, p_before float8, p_day text, p_counts_only boolean, out messages bigint, out sums bigint)
language plpgsql as $$
declare
  v_team record;
  v_count bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  messages := 0;
  for v_team in select e.tid, min(coalesce(e.cursor, 0)) as reached from strata.member e where e.tenant = p_tenant group by e.tid order by e.tid loop
    if p_counts_only then
      select count(*) into v_count from strata.message m
        where m.tenant = p_tenant and m.tid = v_team.tid and m.n <= v_team.reached and m.sent < to_timestamp(p_before / 1000);
    else
      delete from strata.message m
        where m.tenant = p_tenant and m.tid = v_team.tid and m.n <= v_team.reached and m.sent < to_timestamp(p_before / 1000);
      get diagnostics v_count = row_count;
    end if;
    messages := messages + v_count;
  end loop;
  select count(*) into sums from strata.spent s where s.tenant = p_tenant and s.day < p_day;
  if p_counts_only then return; end if;
  delete from strata.spent s where s.tenant = p_tenant and s.day < p_day;
  delete from strata.done d where d.tenant = p_tenant and d.at < clock_timestamp() - interval '1 hour';
  delete from strata.holder h where h.tenant = p_tenant and h.until < clock_timestamp() - interval '1 day';
end $$;

-- Everything of a tenant, or only how much that is. Every table that has tenants is looked into, also those that come later.
create function strata.erase_tenant(p_tenant text, p_counts_only boolean) returns table (name text, count bigint) language plpgsql as $$
#variable_conflict use_column
declare
  v_table record;
begin
  perform set_config('strata.tenant', p_tenant, true);
  for v_table in select c.oid::regclass::text as full_name, c.relname::text as short_name
    from pg_class c join pg_namespace s on s.oid = c.relnamespace and s.nspname = 'strata'
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
    where c.relkind in ('r', 'p') and not c.relispartition
    -- first the rows that writers lock: what they write before they end is seen by what follows
    order by array_position(array['shelf', 'journal', 'memory_head', 'team'], c.relname::text), c.relname
  loop
    if p_counts_only then
      execute format('select count(*) from %s where tenant = $1', v_table.full_name) into count using p_tenant;
    else
      execute format('with gone as (delete from %s where tenant = $1 returning 1) select count(*) from gone', v_table.full_name)
        into count using p_tenant;
    end if;
    name := v_table.short_name;
    return next;
  end loop;
end $$;
