/** How a pass over an object ended. Each may bring the status to be written; unchanged ones cost nothing. */
export type Outcome<Status = never> = Done<Status> | Wait<Status> | Failed<Status>;

/** Everything is as it should be. */
export interface Done<Status> {
  readonly end: 'done';
  readonly status?: Status;
}

/** Something is missing. A change of what the controller watches wakes it, or the end of `after` milliseconds. */
export interface Wait<Status> {
  readonly end: 'wait';
  readonly after?: number;
  readonly status?: Status;
}

/** Something went wrong that may go right next time: tried again with back-off, as if it had been thrown. */
export interface Failed<Status> {
  readonly end: 'failed';
  readonly error: Error;
  readonly status?: Status;
}

export const done = <Status = never>(result: Omit<Done<Status>, 'end'> = {}): Done<Status> => ({
  end: 'done',
  ...result,
});
export const wait = <Status = never>(result: Omit<Wait<Status>, 'end'> = {}): Wait<Status> => ({
  end: 'wait',
  ...result,
});
export const failed = <Status = never>(error: Error, result: { status?: Status } = {}): Failed<Status> => ({
  end: 'failed',
  error,
  ...result,
});
