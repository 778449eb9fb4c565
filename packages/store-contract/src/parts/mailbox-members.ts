/** Requirements of team members: unique names, and cursors of what each has read. */
import assert from "node:assert/strict"
import { MemberNameTakenError } from "@strata/core/base"
import { assertRefused } from "../assertions.ts"
import { type ContractClaim, upTo } from "../fixture.ts"
import { draft, mailboxOf, textsIn } from "./mailbox-messages.ts"

export const mailboxMembers: readonly ContractClaim[] = [
  [
    "L7-5 a name in a team has one member, and its next holder reads on where the last one was",
    async (fixture) => {
      const [mailbox, second] = [mailboxOf(fixture), mailboxOf(fixture)]
      const membership = await mailbox.join({ name: "b", conversation: "one" })
      assert.equal(membership.cursor, undefined)
      await assertRefused(() => second.join({ name: "b", conversation: "two" }), MemberNameTakenError, "the same name")
      await second.join({ name: "a", conversation: "two" })
      const members = [
        { name: "a", conversation: "two" },
        { name: "b", conversation: "one" },
      ]
      assert.deepEqual(await mailbox.members(), members)
      await mailbox.send(draft("a", "read", "b"))
      const { cursor } = await mailbox.read(undefined, "b")
      await mailbox.send(draft("a", "unread", "b"))
      await membership.leave(cursor)
      assert.deepEqual(
        (await second.members()).map(({ name }) => name),
        ["a"],
      )
      const next = await second.join({ name: "b", conversation: "three" })
      assert.deepEqual(textsIn(await second.read(next.cursor, "b")), ["a#2 unread"])
      await membership.leave() // a second time, and too late
      assert.deepEqual(
        (await mailbox.members()).map(({ conversation }) => conversation),
        ["two", "three"],
      )
    },
  ],
  [
    "L7-5 a member says that it waits, and where it has read to",
    async (fixture) => {
      const [mailbox, other] = [mailboxOf(fixture), mailboxOf(fixture)]
      const membership = await mailbox.join({ name: "b", conversation: "one" })
      await other.send(draft("a", "read", "b"))
      const { cursor } = await mailbox.read(undefined)
      const changed = other.change(new AbortController().signal)
      await other.members() // by then the store is loaded and listens
      await membership.setIdle(cursor)
      await changed
      assert.deepEqual(await other.members(), [{ name: "b", conversation: "one", idleAt: cursor }])
      await other.send(draft("a", "unread", "b"))
      assert.deepEqual(textsIn(await other.read(cursor)), ["a#2 unread"])
      await membership.setIdle(undefined)
      assert.deepEqual(await other.members(), [{ name: "b", conversation: "one" }])
    },
  ],
  [
    "L7-5 of many that join under one name, one does; under different names, all do",
    async (fixture) => {
      const mailboxes = fixture.handles.map((store) => mailboxOf(fixture, store))
      for (const round of upTo(fixture.runs)) {
        const attempts = await Promise.allSettled(
          mailboxes.map((mailbox, at) => mailbox.join({ name: "shared", conversation: `${round}-${at}` })),
        )
        const joined = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []))
        assert.equal(joined.length, 1, "one name has one member")
        for (const attempt of attempts)
          if (attempt.status === "rejected")
            assert.ok(attempt.reason instanceof MemberNameTakenError, String(attempt.reason))
        await joined[0]!.leave()
      }
      await Promise.all(mailboxes.map((mailbox, at) => mailbox.join({ name: `own-${at}`, conversation: `${at}` })))
      const names = (await mailboxOf(fixture).members()).map(({ name }) => name)
      assert.deepEqual(
        names,
        upTo(fixture.writers)
          .map((at) => `own-${at}`)
          .toSorted(),
      )
    },
  ],
]
