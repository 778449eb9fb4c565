/** Random sending, reading, joining and leaving from several handles. After each, the store returns the same as a plain list. */
import assert from "node:assert/strict"
import { MailboxFullError, MemberNameTakenError } from "@strata/core/base"
import type { Mailbox, MailboxCursor, MailboxMessage, Membership } from "@strata/core/store"
import { failureOf } from "../assertions.ts"
import { type ContractClaim, type ContractFixture, PROJECT, upTo } from "../fixture.ts"
import type { Random } from "../random.ts"

const STEPS = 50
const NAMES = ["a", "b", "c"]
const MAX_WAITING = 5

interface Permit {
  readonly mailbox: Mailbox
  readonly membership: Membership
  readonly conversation: string
  idleAt: MailboxCursor | undefined
}

interface Model {
  readonly log: MailboxMessage[]
  readonly permits: Map<string, Permit>
  /** How many messages a member has passed by its saved cursor, whether it is still a member or not. */
  readonly passed: Map<string, number>
}

export const mailboxesModel: readonly ContractClaim[] = [
  [
    "BEY-12 random messages and members: the store answers what a plain list answers",
    async (fixture) => {
      for (const run of upTo(fixture.runs)) await oneRun(fixture, `team-${run}`)
    },
  ],
]

async function oneRun(fixture: ContractFixture, team: string): Promise<void> {
  const { random } = fixture
  const mailboxes = fixture.handles.slice(0, 3).map((store) => store.mailboxes({ project: PROJECT, team }))
  for (const mailbox of mailboxes) fixture.onCleanup(() => mailbox.close())
  const model: Model = { log: [], permits: new Map(), passed: new Map() }
  const operations = [send, send, read, join, leave, idle]
  for (const step of upTo(STEPS)) {
    const [mailbox, name] = [random.pick(mailboxes), random.pick(NAMES)]
    await random.pick(operations)({ fixture, mailbox, model, name, step })
    const looked = random.pick(mailboxes)
    assert.deepEqual(contentsOf((await looked.read(undefined)).messages), contentsOf(model.log), `step ${step}`)
    const members = [...model.permits].toSorted(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(await looked.members(), members.map(asFound), `step ${step}`)
    for (const from of NAMES)
      assert.equal(
        await looked.last(from),
        model.log.filter((message) => message.from === from).length,
        `last of ${from}`,
      )
  }
}

interface Step {
  readonly fixture: ContractFixture
  readonly mailbox: Mailbox
  readonly model: Model
  readonly name: string
  readonly step: number
}

const contentsOf = (messages: readonly MailboxMessage[]) =>
  messages.map(({ from, to, sequence, content }) => ({ from, to, sequence, content }))

const asFound = ([name, { conversation, idleAt }]: readonly [string, Permit]) =>
  idleAt === undefined ? { name, conversation } : { name, conversation, idleAt }

async function send({ fixture: { random }, mailbox, model, name, step }: Step): Promise<void> {
  const to = NAMES.filter((one) => one !== name && random.chance(0.6))
  if (to.length === 0) return
  const waiting = (one: string) =>
    model.log.slice(model.passed.get(one) ?? 0).filter((message) => message.to.includes(one)).length
  const isFull = to.some((one) => waiting(one) >= MAX_WAITING)
  const limits = random.chance(0.5) ? { waiting: MAX_WAITING } : {}
  const sending = () => mailbox.send({ from: name, to, content: { text: `${step}` } }, limits)
  if (isFull && "waiting" in limits)
    return assert.ok((await failureOf(sending)) instanceof MailboxFullError, `step ${step}`)
  model.log.push(await sending())
}

/** A member never moves behind its saved cursor. */
function laterCursor(random: Random, { log, passed }: Model, name: string): number {
  const min = passed.get(name) ?? 0
  return min + random.below(log.length - min + 1)
}

/** A member reads from a cursor that it has seen, and confirms it if it has saved it. */
async function read({ fixture: { random }, model, mailbox, name, step }: Step): Promise<void> {
  const permit = model.permits.get(name)
  const position = laterCursor(random, model, name)
  const cursor = model.log[position - 1]?.cursor
  const reading = await (permit?.mailbox ?? mailbox).read(cursor, permit ? name : undefined)
  if (permit && cursor !== undefined) model.passed.set(name, position)
  assert.deepEqual(contentsOf(reading.messages), contentsOf(model.log.slice(position)), `step ${step}`)
}

async function join({ mailbox, model, name, step }: Step): Promise<void> {
  const joining = () => mailbox.join({ name, conversation: `of-${step}` })
  if (model.permits.has(name))
    return assert.ok((await failureOf(joining)) instanceof MemberNameTakenError, `step ${step}`)
  const membership = await joining()
  const passed = model.passed.get(name)
  const reading = await mailbox.read(membership.cursor)
  assert.deepEqual(contentsOf(reading.messages), contentsOf(model.log.slice(passed ?? 0)), `step ${step}: it reads on`)
  model.permits.set(name, { mailbox, membership, conversation: `of-${step}`, idleAt: undefined })
}

async function leave({ fixture: { random }, model, name }: Step): Promise<void> {
  const permit = model.permits.get(name)
  if (!permit) return
  const position = laterCursor(random, model, name)
  const cursor = model.log[position - 1]?.cursor
  await permit.membership.leave(cursor)
  if (cursor !== undefined) model.passed.set(name, position)
  model.permits.delete(name)
}

async function idle({ fixture: { random }, model, name }: Step): Promise<void> {
  const permit = model.permits.get(name)
  if (!permit) return
  permit.idleAt = random.chance(0.5) ? undefined : model.log[random.below(model.log.length)]?.cursor
  await permit.membership.setIdle(permit.idleAt)
}
