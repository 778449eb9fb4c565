-- Who may see what. Every table has the tenant first in its key, and a policy that lets no row of another tenant through. A function sets
-- the tenant for its own transaction and does the work in the same call: nothing is left in the session, so a transaction pooler may be
-- between. Functions name the tenant in every condition too, because a superuser passes policies.

create schema if not exists strata;

create table strata.schema_version (
  version integer primary key,
  name text not null,
  applied timestamptz not null default clock_timestamp()
);

-- makes a table private to each tenant
create function strata.isolate(p_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', p_table);
  execute format('alter table %s force row level security', p_table);
  execute format(
    'create policy tenant on %s using (tenant = current_setting(''strata.tenant'', true) and tenant <> '''') with check (tenant = current_setting(''strata.tenant'', true) and tenant <> '''')',
    p_table); -- a session in which no tenant was set may have an empty one
end $$;

-- lines and texts are mostly of a few kilobytes: lz4 is fast for them, where the server has it
create function strata.compress(p_table regclass, p_column text) returns void language plpgsql as $$
begin
  execute format('alter table %s alter column %I set compression lz4', p_table, p_column);
exception when feature_not_supported or invalid_parameter_value then
  null;
end $$;

-- A process that uses the store. Everything that it holds is its own as long as it renews this one row: journals, leases, members of teams.
create table strata.holder (
  tenant text not null,
  id uuid not null,
  pid integer not null,
  host text not null,
  until timestamptz not null,
  primary key (tenant, id)
) with (fillfactor = 50);

-- Calls that were made and must not be made again, for an hour: an answer may be lost on its way.
create table strata.done (
  tenant text not null,
  call uuid not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant, call)
);
create index done_at on strata.done (tenant, at);

select strata.isolate('strata.holder');
select strata.isolate('strata.done');

-- Renews what the process holds. Where much of the time is left nothing is written: calls of one process would wait for each other here, and a
-- renewal for all of them.
create function strata.hold(p_tenant text, p_holder uuid, p_pid integer, p_host text, p_seconds float8) returns void
language plpgsql as $$
begin
  if exists (select from strata.holder h where h.tenant = p_tenant and h.id = p_holder
    and h.until > clock_timestamp() + make_interval(secs => p_seconds * 0.8)) then return; end if;
  insert into strata.holder as h (tenant, id, pid, host, until)
  values (p_tenant, p_holder, p_pid, p_host, clock_timestamp() + make_interval(secs => p_seconds))
  on conflict (tenant, id) do update set until = excluded.until where h.until < excluded.until;
end $$;

create function strata.is_alive(p_tenant text, p_holder uuid) returns boolean language sql stable as $$
  select p_holder is not null and exists (
    select from strata.holder h where h.tenant = p_tenant and h.id = p_holder and h.until > clock_timestamp()
  )
$$;

-- One call renews everything that a process holds, for all its tenants. It also removes what is long over, unless another process does.
create function strata.renew(p_tenants text[], p_holders uuid[], p_pid integer, p_host text, p_seconds float8) returns void
language plpgsql as $$
begin
  for v_at in 1 .. cardinality(p_tenants) loop
    perform set_config('strata.tenant', p_tenants[v_at], true);
    perform strata.hold(p_tenants[v_at], p_holders[v_at], p_pid, p_host, p_seconds);
    delete from strata.done d where d.ctid = any (array(
      select o.ctid from strata.done o where o.tenant = p_tenants[v_at] and o.at < clock_timestamp() - interval '1 hour' for update skip locked));
    delete from strata.holder h where h.ctid = any (array(
      select o.ctid from strata.holder o where o.tenant = p_tenants[v_at] and o.until < clock_timestamp() - interval '1 day' for update skip locked));
  end loop;
end $$;

-- Whether a call was made before. The update makes sure that a standby has what it wrote: its answer was lost, so no one knows.
create function strata.was_done(p_tenant text, p_call uuid) returns boolean language plpgsql as $$
begin
  update strata.done d set at = clock_timestamp() where d.tenant = p_tenant and d.call = p_call;
  return found;
end $$;

-- Noted in the transaction that makes the call.
create function strata.note_done(p_tenant text, p_call uuid) returns void language sql as $$
  insert into strata.done (tenant, call) values (p_tenant, p_call)
$$;

-- Notes a call that no lock keeps apart from itself. False: it was made before. It waits where the first try is still on its way.
create function strata.begin_call(p_tenant text, p_call uuid) returns boolean language plpgsql as $$
begin
  insert into strata.done (tenant, call) values (p_tenant, p_call) on conflict do nothing;
  if found then return true; end if;
  perform strata.was_done(p_tenant, p_call);
  return false;
end $$;

-- The right to do something alone. The number grows with each acquisition.
create table strata.lease (
  tenant text not null,
  project text collate "C" not null,
  name text collate "C" not null,
  fence bigint not null default 0,
  holder uuid,
  call uuid,
  since timestamptz,
  primary key (tenant, project, name)
) with (fillfactor = 70);

select strata.isolate('strata.lease');

create function strata.acquire(
  p_tenant text, p_project text, p_name text, p_holder uuid, p_pid integer, p_host text, p_seconds float8, p_call uuid,
  out state text, out number bigint, out took_over boolean, out other_holder uuid, out other_pid integer, out other_host text, out other_since float8)
language plpgsql as $$
declare
  v_lease strata.lease;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.lease (tenant, project, name) values (p_tenant, p_project, p_name) on conflict do nothing;
  select * into v_lease from strata.lease l
    where l.tenant = p_tenant and l.project = p_project and l.name = p_name for update;
  perform strata.hold(p_tenant, p_holder, p_pid, p_host, p_seconds);
  if strata.was_done(p_tenant, p_call) then -- it was acquired and given back, and this try comes late: no one waits for it
    state := 'held'; number := v_lease.fence;
    return;
  end if;
  if v_lease.call = p_call and v_lease.holder = p_holder then -- the answer was lost. The update makes sure that a standby has it
    update strata.lease l set since = l.since where l.tenant = p_tenant and l.project = p_project and l.name = p_name;
    state := 'acquired'; number := v_lease.fence; took_over := false;
    return;
  end if;
  if strata.is_alive(p_tenant, v_lease.holder) then
    state := 'held'; number := v_lease.fence; other_holder := v_lease.holder; other_since := extract(epoch from v_lease.since) * 1000;
    select h.pid, h.host into other_pid, other_host from strata.holder h where h.tenant = p_tenant and h.id = v_lease.holder;
    return;
  end if;
  update strata.lease l set fence = l.fence + 1, holder = p_holder, call = p_call, since = clock_timestamp()
    where l.tenant = p_tenant and l.project = p_project and l.name = p_name returning l.fence into number;
  state := 'acquired'; took_over := v_lease.holder is not null;
end $$;

-- Who has it now. Nothing: no one.
create function strata.leased(
  p_tenant text, p_project text, p_name text,
  out number bigint, out holder_id uuid, out pid integer, out host text, out since float8)
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select l.fence, l.holder, h.pid, h.host, extract(epoch from l.since) * 1000 into number, holder_id, pid, host, since
    from strata.lease l join strata.holder h on h.tenant = l.tenant and h.id = l.holder
    where l.tenant = p_tenant and l.project = p_project and l.name = p_name and h.until > clock_timestamp();
end $$;

-- A process that was paused, and that no one replaced, still has it.
create function strata.is_held(p_tenant text, p_project text, p_name text, p_holder uuid, p_fence bigint) returns boolean
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return exists (select from strata.lease l
    where l.tenant = p_tenant and l.project = p_project and l.name = p_name and l.holder = p_holder and l.fence = p_fence);
end $$;

create function strata.release(p_tenant text, p_project text, p_name text, p_holder uuid, p_fence bigint) returns boolean
language plpgsql as $$
declare
  v_call uuid;
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.lease l set holder = null
    where l.tenant = p_tenant and l.project = p_project and l.name = p_name and l.holder = p_holder and l.fence = p_fence
    returning l.call into v_call;
  if v_call is null then return false; end if;
  perform strata.begin_call(p_tenant, v_call); -- a try of it that comes late acquires nothing
  return true;
end $$;

-- Sums that processes share.
create table strata.spent (
  tenant text not null,
  project text collate "C" not null,
  day text collate "C" not null,
  dollars float8 not null default 0,
  primary key (tenant, project, day)
) with (fillfactor = 70);

select strata.isolate('strata.spent');

create function strata.spend(p_tenant text, p_call uuid, p_project text, p_day text, p_dollars float8) returns float8
language plpgsql as $$
declare
  v_sum float8;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.spent (tenant, project, day) values (p_tenant, p_project, p_day) on conflict do nothing;
  select s.dollars into v_sum from strata.spent s where s.tenant = p_tenant and s.project = p_project and s.day = p_day for update;
  if strata.was_done(p_tenant, p_call) then return v_sum; end if;
  perform strata.note_done(p_tenant, p_call);
  update strata.spent s set dollars = v_sum + p_dollars where s.tenant = p_tenant and s.project = p_project and s.day = p_day;
  return v_sum + p_dollars;
end $$;

create function strata.spent_on(p_tenant text, p_project text, p_day text) returns float8 language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return coalesce((select s.dollars from strata.spent s where s.tenant = p_tenant and s.project = p_project and s.day = p_day), 0);
end $$;

-- Lines that are only ever added to.
create table strata.log_line (
  tenant text not null,
  project text collate "C" not null,
  name text collate "C" not null,
  n bigint generated always as identity,
  line bytea not null,
  primary key (tenant, project, name, n)
);

select strata.isolate('strata.log_line');

create function strata.log_append(p_tenant text, p_call uuid, p_project text, p_name text, p_line bytea) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  if not strata.begin_call(p_tenant, p_call) then return; end if;
  insert into strata.log_line (tenant, project, name, line) values (p_tenant, p_project, p_name, p_line);
end $$;

-- Lines with their line ends: those after the line `p_after`, without `p_skip` bytes of them. They begin in the next `p_most` bytes. `last`: the last of them.
create function strata.log_read(
  p_tenant text, p_project text, p_name text, p_after bigint, p_skip bigint, p_most bigint, out lines bytea, out last bigint)
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select string_agg(s.line || decode('0a', 'hex'), ''::bytea order by s.n), max(s.n) into lines, last
    from (select l.n, l.line, sum(length(l.line) + 1) over (order by l.n) - length(l.line) - 1 as at from strata.log_line l
      where l.tenant = p_tenant and l.project = p_project and l.name = p_name and l.n > p_after) s
    where s.at >= p_skip and s.at < p_skip + p_most;
end $$;

-- How many do something at once. The lease of the same project bears the lock: no caller can have a lease with a slash in its name.
create table strata.seat (
  tenant text not null,
  project text collate "C" not null,
  name text collate "C" not null,
  id text collate "C" not null,
  holder uuid not null,
  primary key (tenant, project, name, id)
);

select strata.isolate('strata.seat');

create function strata.sit(
  p_tenant text, p_project text, p_name text, p_id text, p_most integer, p_holder uuid, p_pid integer, p_host text, p_seconds float8, p_call uuid,
  out is_seated boolean, out taken bigint)
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.lease (tenant, project, name) values (p_tenant, p_project, 'seats/' || p_name) on conflict do nothing;
  -- an update, not only a lock: where a role has repeatable read, the one that waited starts again with what is there now
  update strata.lease l set fence = l.fence + 1 where l.tenant = p_tenant and l.project = p_project and l.name = 'seats/' || p_name;
  perform strata.hold(p_tenant, p_holder, p_pid, p_host, p_seconds);
  delete from strata.seat s where s.tenant = p_tenant and s.project = p_project and s.name = p_name and not strata.is_alive(p_tenant, s.holder);
  if strata.was_done(p_tenant, p_call) then -- it had the seat and left it, and this try comes late
    is_seated := false; taken := 0;
    return;
  end if;
  update strata.seat s set holder = p_holder where s.tenant = p_tenant and s.project = p_project and s.name = p_name and s.id = p_id;
  is_seated := found;
  select count(*) into taken from strata.seat s where s.tenant = p_tenant and s.project = p_project and s.name = p_name;
  if is_seated or taken >= p_most then return; end if;
  insert into strata.seat (tenant, project, name, id, holder) values (p_tenant, p_project, p_name, p_id, p_holder);
  is_seated := true;
end $$;

-- The seat may be another process's meanwhile: then it stays.
create function strata.leave_seat(p_tenant text, p_project text, p_name text, p_id text, p_holder uuid, p_call uuid) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  delete from strata.seat s
    where s.tenant = p_tenant and s.project = p_project and s.name = p_name and s.id = p_id and s.holder = p_holder;
  perform strata.begin_call(p_tenant, p_call);
end $$;
