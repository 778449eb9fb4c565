-- How many do something at once. The row of the permit bears the lock, and counts how often it was given.

create table strata.permit (
  tenant text not null,
  project text collate "C" not null,
  name text collate "C" not null,
  fence bigint not null default 0,
  primary key (tenant, project, name)
) with (fillfactor = 70);

-- Who has one.
create table strata.permit_taken (
  tenant text not null,
  project text collate "C" not null,
  name text collate "C" not null,
  id text collate "C" not null,
  holder uuid not null,
  fence bigint not null default 0,
  since timestamptz not null default clock_timestamp(),
  primary key (tenant, project, name, id)
);

-- Agents that work now keep theirs. Who migrates may own the tables without passing their policies.
alter table strata.seat no force row level security;
insert into strata.permit_taken (tenant, project, name, id, holder)
  select s.tenant, s.project, s.name, s.id, s.holder from strata.seat s;

select strata.isolate('strata.permit');
select strata.isolate('strata.permit_taken');

-- When the memories of the project were consolidated last, in milliseconds.
create function strata.permit_done(p_tenant text, p_project text, p_name text) returns float8 language plpgsql as $$
begin
  return (select h.consolidated from strata.memory_head h
    where p_name = 'consolidate' and h.tenant = p_tenant and h.place = 'memory/' || p_project);
end $$;

create function strata.permit_state(p_tenant text, p_project text, p_name text, out taken bigint, out done float8) language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select count(*) into taken from strata.permit_taken t
    where t.tenant = p_tenant and t.project = p_project and t.name = p_name and strata.is_alive(p_tenant, t.holder);
  done := strata.permit_done(p_tenant, p_project, p_name);
end $$;

-- Taken: `number` is its fence. Otherwise the rest says one who has it.
create function strata.permit_take(
  p_tenant text, p_project text, p_name text, p_id text, p_most integer, p_holder uuid, p_pid integer, p_host text, p_seconds float8, p_call uuid,
  out is_taken boolean, out taken bigint, out done float8,
  out number bigint, out holder_id uuid, out pid integer, out host text, out since float8)
language plpgsql as $$
declare
  v_fence bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.permit (tenant, project, name) values (p_tenant, p_project, p_name) on conflict do nothing;
  -- an update, not only a lock: where a role has repeatable read, the one that waited starts again with what is there now
  update strata.permit p set fence = p.fence + 1 where p.tenant = p_tenant and p.project = p_project and p.name = p_name
    returning p.fence into v_fence;
  perform strata.hold(p_tenant, p_holder, p_pid, p_host, p_seconds);
  delete from strata.permit_taken t
    where t.tenant = p_tenant and t.project = p_project and t.name = p_name and not strata.is_alive(p_tenant, t.holder);
  if strata.was_done(p_tenant, p_call) then -- it was taken and given back, and this try comes late: no one waits for it
    is_taken := false; taken := 0;
    return;
  end if;
  done := strata.permit_done(p_tenant, p_project, p_name);
  update strata.permit_taken t set holder = p_holder
    where t.tenant = p_tenant and t.project = p_project and t.name = p_name and t.id = p_id returning t.fence into number;
  is_taken := found;
  select count(*) into taken from strata.permit_taken t where t.tenant = p_tenant and t.project = p_project and t.name = p_name;
  if is_taken then return; end if;
  if taken >= p_most then
    select t.fence, t.holder, h.pid, h.host, extract(epoch from t.since) * 1000 into number, holder_id, pid, host, since
      from strata.permit_taken t join strata.holder h on h.tenant = t.tenant and h.id = t.holder
      where t.tenant = p_tenant and t.project = p_project and t.name = p_name order by t.since limit 1;
    return;
  end if;
  insert into strata.permit_taken (tenant, project, name, id, holder, fence) values (p_tenant, p_project, p_name, p_id, p_holder, v_fence);
  is_taken := true; number := v_fence;
end $$;

-- It may be another process's meanwhile: then it stays, and so does the time.
create function strata.permit_release(
  p_tenant text, p_project text, p_name text, p_id text, p_holder uuid, p_fence bigint, p_call uuid, p_done float8)
returns void language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  delete from strata.permit_taken t where t.tenant = p_tenant and t.project = p_project and t.name = p_name and t.id = p_id
    and t.holder = p_holder and t.fence = p_fence;
  if found and p_done is not null and p_name = 'consolidate' then
    insert into strata.memory_head as h (tenant, place, consolidated) values (p_tenant, 'memory/' || p_project, p_done)
      on conflict (tenant, place) do update set consolidated = excluded.consolidated;
  end if;
  perform strata.begin_call(p_tenant, p_call); -- a try of it that comes late takes nothing
end $$;

-- Programs of an earlier version that still run start agents with these two. They begin no dream: what that needs is gone.
create or replace function strata.sit(
  p_tenant text, p_project text, p_name text, p_id text, p_most integer, p_holder uuid, p_pid integer, p_host text, p_seconds float8, p_call uuid,
  out is_seated boolean, out taken bigint)
language plpgsql as $$
begin
  select t.is_taken, t.taken into is_seated, taken
    from strata.permit_take(p_tenant, p_project, p_name, p_id, p_most, p_holder, p_pid, p_host, p_seconds, p_call) as t;
end $$;

create or replace function strata.leave_seat(p_tenant text, p_project text, p_name text, p_id text, p_holder uuid, p_call uuid) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform strata.permit_release(p_tenant, p_project, p_name, p_id, p_holder, t.fence, p_call, null) from strata.permit_taken t
    where t.tenant = p_tenant and t.project = p_project and t.name = p_name and t.id = p_id;
end $$;

drop function strata.acquire, strata.leased, strata.is_held, strata.release, strata.memory_consolidated, strata.memory_consolidate;
drop table strata.seat, strata.lease;
