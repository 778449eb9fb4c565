/** Ctrl-C or SIGTERM: the first one interrupts the work, the second ends the process. */

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const // the exit codes shells use for these signals

export interface Interruption {
  readonly signal: AbortSignal
  /** Restores the default handling. */
  stop(): void
}

export function interruptible(): Interruption {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(SIGNALS[name as keyof typeof SIGNALS])
    controller.abort()
  }
  const names = Object.keys(SIGNALS) as readonly (keyof typeof SIGNALS)[]
  for (const name of names) process.on(name, onSignal)
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of names) process.off(name, onSignal)
    },
  }
}
