/** Requirements of messages between agents: delivered once, in order, and to those who asked. */
import assert from "node:assert/strict"
import { ClosedError, InvalidIdError } from "@strata/core"
import { MailboxFullError, MailboxMessageError } from "@strata/core/base"
import type { Mailbox, MailboxCursor, MailboxDraft, MailboxMessage, MailboxReadResult, Store } from "@strata/core/store"
import { assertRefused, letOthersRun } from "../assertions.ts"
import { DIFFICULT_TEXTS } from "../entries.ts"
import { type ContractClaim, type ContractFixture, PROJECT, upTo } from "../fixture.ts"

const TEAM = { project: PROJECT, team: "team" }

export const draft = (from: string, text: string, ...to: string[]): MailboxDraft => ({ from, to, content: { text } })

export const textsIn = ({ messages }: Pick<MailboxReadResult, "messages">): readonly string[] =>
  messages.map(({ from, sequence, content }) => `${from}#${sequence} ${String(content.text)}`)

/** A mailbox that is closed at the end of the test. */
export function mailboxOf(fixture: ContractFixture, store: Store = fixture.handle()): Mailbox {
  const mailbox = store.mailboxes(TEAM)
  fixture.onCleanup(() => mailbox.close())
  return mailbox
}

export const mailboxMessages: readonly ContractClaim[] = [
  [
    "L7-5 a mailbox gives every reader all messages after its cursor, in order for each sender",
    async (fixture) => {
      const [mailbox, reader] = [mailboxOf(fixture), mailboxOf(fixture)]
      const { messages, problems } = await reader.read(undefined)
      assert.deepEqual([messages, problems], [[], []])
      await Promise.all(["one", "two", "drei\nmit Ümlaut", "四"].map((text) => mailbox.send(draft("a", text, "b"))))
      const first = await reader.read(undefined)
      assert.deepEqual(textsIn(first), ["a#1 one", "a#2 two", "a#3 drei\nmit Ümlaut", "a#4 四"])
      const sent = await mailbox.send(draft("c", "other", "a", "b"))
      assert.deepEqual([sent.sequence, sent.to], [1, ["a", "b"]])
      await mailbox.send(draft("a", "five", "c"))
      assert.deepEqual(textsIn(await reader.read(first.cursor)), ["c#1 other", "a#5 five"])
      const third = first.messages[2]!.cursor
      assert.deepEqual(textsIn(await reader.read(third)), ["a#4 四", "c#1 other", "a#5 five"])
      assert.deepEqual(textsIn(await reader.read(sent.cursor)), ["a#5 five"])
      assert.deepEqual(await Promise.all(["a", "c", "unknown"].map((name) => reader.last(name))), [5, 1, 0])
      const end = await reader.read(undefined)
      assert.deepEqual(await reader.read(end.cursor), { messages: [], cursor: end.cursor, problems: [] })
    },
  ],
  [
    "L7-5 a message comes back as it was, and what a reader does with it changes nothing",
    async (fixture) => {
      const [mailbox, reader] = [mailboxOf(fixture), mailboxOf(fixture)]
      const contents = DIFFICULT_TEXTS.filter(({ length }) => length < 1_000).map((text, at) => ({
        text,
        deep: [{ at }, null],
      }))
      for (const content of contents) await mailbox.send({ from: "a", to: ["b"], content })
      const readContents = async () => (await reader.read(undefined)).messages.map(({ content }) => content)
      assert.deepEqual(await readContents(), contents)
      for (const content of await readContents()) Object.assign(content as object, { text: "changed" })
      assert.deepEqual(await readContents(), contents)
    },
  ],
  [
    "L7-5 many senders at once: each message is there once, in the order of its sender",
    async (fixture) => {
      const turns = 10 * fixture.runs
      const reader = mailboxOf(fixture)
      const senders = fixture.handles.map((store, at) => ({ mailbox: mailboxOf(fixture, store), name: `sender-${at}` }))
      const received: MailboxMessage[] = []
      const all = turns * fixture.writers
      const reading = (async () => {
        for (let cursor: MailboxCursor | undefined; received.length < all; ) {
          const { messages, cursor: next, problems } = await reader.read(cursor)
          assert.deepEqual(problems, [])
          received.push(...messages)
          cursor = next
          await letOthersRun()
        }
      })()
      await Promise.all(
        senders.map(async ({ mailbox, name }) => {
          const numbers = upTo(turns)
          // some sends wait for each other, and some do not
          for (const at of numbers.slice(0, turns / 2)) await mailbox.send(draft(name, `${at}`, "b"))
          await Promise.all(numbers.slice(turns / 2).map((at) => mailbox.send(draft(name, `${at}`, "b"))))
        }),
      )
      await reading
      for (const { name } of senders) {
        const own = received.filter(({ from }) => from === name)
        assert.deepEqual(
          textsIn({ messages: own }),
          upTo(turns).map((at) => `${name}#${at + 1} ${at}`),
        )
      }
      assert.equal(received.length, all)
      assert.deepEqual(textsIn(await reader.read(undefined)), textsIn({ messages: received }))
    },
  ],
  [
    "L7-5 one sender over many handles: its sequence has no gap and no number twice",
    async (fixture) => {
      const turns = 2 * fixture.runs
      const mailboxes = fixture.handles.map((store) => mailboxOf(fixture, store))
      await Promise.all(
        mailboxes.map(async (mailbox, at) => {
          for (const turn of upTo(turns)) await mailbox.send(draft("a", `${at}.${turn}`, "b"))
        }),
      )
      const { messages } = await mailboxOf(fixture).read(undefined)
      assert.deepEqual(
        messages.map(({ sequence }) => sequence),
        upTo(turns * fixture.writers).map((at) => at + 1),
      )
      for (const at of mailboxes.keys()) {
        const own = messages.map(({ content }) => String(content.text)).filter((text) => text.startsWith(`${at}.`))
        assert.deepEqual(
          own,
          upTo(turns).map((turn) => `${at}.${turn}`),
        )
      }
    },
  ],
  [
    "L7-5 teams do not read each other's messages, and names cannot lead elsewhere",
    async (fixture) => {
      const mailbox = mailboxOf(fixture)
      await mailbox.send(draft("a", "for the team", "b"))
      for (const team of [
        { ...TEAM, team: "team-2" },
        { ...TEAM, project: `${PROJECT}-2` },
      ]) {
        const other = fixture.handle().mailboxes(team)
        fixture.onCleanup(() => other.close())
        assert.deepEqual((await other.read(undefined)).messages, [])
        assert.deepEqual(await other.members(), [])
      }
      for (const name of ["../a", "", "a/b", "*"]) {
        await assertRefused(() => mailbox.send(draft(name, "x", "b")), InvalidIdError, `from ${name}`)
        await assertRefused(() => mailbox.send(draft("a", "x", name)), InvalidIdError, `to ${name}`)
        await assertRefused(() => mailbox.join({ name, conversation: "c" }), InvalidIdError, `${name} joins`)
      }
      await assertRefused(() => mailbox.send(draft("a", "x")), MailboxMessageError, "no receiver")
      await assertRefused(() => mailbox.send(draft("a", "x".repeat(500_001), "b")), MailboxMessageError, "too long")
      for (const cursor of ["x", "-1", "1:x", "../1:1"])
        await assertRefused(() => mailbox.read(cursor), InvalidIdError, `the cursor ${cursor}`)
      assert.deepEqual(textsIn(await mailbox.read(undefined)), ["a#1 for the team"])
    },
  ],
  [
    "L7-5 a mailbox refuses more messages than may wait for one receiver",
    async (fixture) => {
      const [mailbox, receiver] = [mailboxOf(fixture), mailboxOf(fixture)]
      await receiver.join({ name: "b", conversation: "c" })
      const send = (text: string) => mailbox.send(draft("a", text, "b"), { waiting: 3 })
      const sent = await Promise.allSettled(["1", "2", "3", "4"].map(send))
      assert.deepEqual(
        sent.map(({ status }) => status),
        ["fulfilled", "fulfilled", "fulfilled", "rejected"],
      )
      await assertRefused(() => send("5"), MailboxFullError, "a fourth")
      await mailbox.send(draft("a", "for another", "c"), { waiting: 3 })
      const { messages } = await receiver.read(undefined, "b")
      await assertRefused(() => send("5"), MailboxFullError, "read, and not saved yet")
      await receiver.read(messages[1]!.cursor, "b")
      assert.equal((await send("5")).sequence, 5)
      assert.equal((await send("6")).sequence, 6)
      await assertRefused(() => send("7"), MailboxFullError, "three wait again")
    },
  ],
  [
    "L7-5 waiting for a message ends with its arrival or with the signal",
    async (fixture) => {
      const [mailbox, sender] = [mailboxOf(fixture), mailboxOf(fixture)]
      const { signal } = new AbortController()
      const first = mailbox.arrival(undefined, signal)
      await sender.send(draft("a", "one", "b"))
      await first
      await mailbox.arrival(undefined, signal) // already there
      const { cursor } = await mailbox.read(undefined)
      const second = mailbox.arrival(cursor, signal)
      await sender.send(draft("a", "two", "b"))
      await second
      const stop = new AbortController()
      const last = mailbox.arrival((await mailbox.read(cursor)).cursor, stop.signal)
      stop.abort()
      await last
      await mailbox.arrival(undefined, AbortSignal.abort())
      await mailbox.change(AbortSignal.abort())
    },
  ],
  [
    "L7-5 a mailbox that is closed sends nothing and says so; closing again is nothing",
    async (fixture) => {
      const mailbox = mailboxOf(fixture)
      await Promise.all([mailbox.send(draft("a", "one", "b")), mailbox.close()])
      await mailbox.close()
      await assertRefused(() => mailbox.send(draft("a", "two", "b")), ClosedError, "a closed mailbox")
      assert.deepEqual(textsIn(await mailboxOf(fixture).read(undefined)), ["a#1 one"])
    },
  ],
]
