/**
 * Measures a team's mailbox: 8 processes send 10,000 messages each to 4 others, while 200 of them are killed at random and started again.
 * No message may be lost, repeated or out of order. Prints how many messages were sent and received per second, kills and restarts
 * included.
 *
 *     npm run bench -- mailbox
 */
import { runStress } from "../../../packages/core/test/mailbox-stress.ts"
import { inTemporaryDirectory, isShort } from "../measure.ts"

const FORM = isShort
  ? { writers: 4, messages: 1_000, readers: 2, kills: 20 }
  : { writers: 8, messages: 10_000, readers: 4, kills: 200 }

await inTemporaryDirectory(async (root) => {
  for (const kills of [0, FORM.kills]) {
    const {
      ms,
      deliveries,
      kills: killed,
      segments,
      wrong,
    } = await runStress({ root: `${root}/${kills}`, ...FORM, kills, random: Math.random })
    const perSecond = (count: number) => Math.round((1000 * count) / ms).toLocaleString("en-US")
    console.log(
      `${FORM.writers} writers × ${FORM.messages.toLocaleString("en-US")} messages × ${FORM.readers} readers, ${killed.writers} writers and ${killed.readers} readers killed`,
    )
    console.log(
      `  ${perSecond(FORM.writers * FORM.messages)} messages sent and ${perSecond(deliveries)} received per second, in ${(ms / 1000).toFixed(1)} s`,
    )
    console.log(`  ${segments.left} of ${segments.all} segments of the log are left`)
    console.log(
      wrong.length === 0 ? "  none lost, none twice, in order for each sender" : `  WRONG: ${wrong.join("; ")}`,
    )
    if (wrong.length > 0) process.exitCode = 1
  }
})
