/** What histories hold the operator to. What is false is planned (docs/behaviour.md), and not built yet. */
export const JUDGED = {
  /** It ends within 5 s whatever hangs (H2); until then within 30 s. */
  endInTime: false,
  /** A process that slept past its Leases writes nothing when it wakes (H2, L54). */
  fencedAfterPause: false,
};
