/**
 * Values of series over time in promtool's notation, by series. `1+30x5`: 1, and five times 30
 * more. One value per 30 s.
 */
type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly name: string;
  /** In addition to {@link HEALTHY}, or in place of it. `only`: nothing else is exported. */
  readonly series: Series;
  readonly only?: true;
  /** Which alerts fire after so long. An alert that is not in the list must be silent. */
  readonly firing: Readonly<Record<string, readonly string[]>>;
}

const pod = (name: string, labels = '') => `{namespace="mirror-controller",pod="${name}"${labels}}`;
const LEADER = 'leader_election_master_status';
const leads = (name: string) => LEADER + pod(name, ',name="mirror-controller"');
const activity = (name: string, kind: string) =>
  `mirror_watch_last_activity_timestamp_seconds${pod(name, `,kind="${kind}"`)}`;
const writes = (result: string) => `mirror_writes_total${pod('a', `,verb="patch",result="${result}"`)}`;
const STUCK = `workqueue_longest_running_processor_seconds${pod('a', ',job="mirror-controller",name="sources"')}`;
const CANARY = 'mirror_canary_last_success_timestamp_seconds';
const unsynced = (name: string) => `mirror_oldest_unsynced_seconds${pod(name)}`;
const FIGHTS = `mirror_fights_total${pod('a')}`;
const conflicts = (name: string) => `mirror_companions${pod(name, ',state="conflict"')}`;
const deletesHeld = (name: string) => `mirror_deletes_held${pod(name)}`;
const pending = (sink: string) => `mirror_notifications_oldest_pending_seconds${pod('a', `,sink="${sink}"`)}`;
const canaryFailed = (name: string) => `mirror_canaries${pod(name, ',state="failed"')}`;
const invalid = (name: string) => `mirror_sources${pod(name, ',state="invalid"')}`;

/**
 * Two replicas: `a` leads and writes; `b` stands by. No source has targets, so no Namespace is
 * watched.
 */
export const HEALTHY: Series = {
  [`mirror_build_info${pod('a', ',version="1"')}`]: '1x200',
  [`mirror_build_info${pod('b', ',version="1"')}`]: '1x200',
  [leads('a')]: '1x200',
  [leads('b')]: '0x200',
  // Another controller of the cluster, with its own Lease.
  [`${LEADER}{namespace="other",name="other",pod="x"}`]: '0x200',
  [activity('a', 'configmaps')]: '0+30x200',
  [activity('b', 'configmaps')]: '0+30x200',
  [activity('a', 'namespaces')]: '0x200',
  [unsynced('a')]: '0x200',
  [unsynced('b')]: '0x200',
  [writes('ok')]: '0+10x200',
  [writes('stale')]: '0+5x200',
  [writes('failed')]: '0x200',
  [STUCK]: '0x200',
  [CANARY + pod('a')]: '0+30x200',
  [CANARY + pod('b')]: '0x200',
  [FIGHTS]: '0x200',
  [conflicts('a')]: '0x200',
  [invalid('a')]: '0x200',
  [pending('ops')]: '0x200',
  // It is slow, but takes each.
  [pending('chat')]: '0x10 600x5 0x185',
};

export const ALERT_CASES: readonly AlertCase[] = [
  { name: 'all is well, and a standby is no alert', series: {}, firing: { '10m': [], '90m': [] } },
  { name: 'nothing runs', series: {}, only: true, firing: { '4m': [], '6m': ['MirrorAbsent'] } },
  {
    name: 'nothing runs here, but another installation of the cluster does',
    series: {
      'mirror_build_info{namespace="other",pod="x",version="1"}': '1x200',
      [`${LEADER}{namespace="other",name="mirror-controller",pod="x"}`]: '1x200',
    },
    only: true,
    firing: { '4m': [], '6m': ['MirrorAbsent'] },
  },
  {
    name: 'nobody leads',
    series: { [leads('a')]: '1x10 0x190' },
    firing: { '5m': [], '8m': ['MirrorNoLeader'] },
  },
  { name: 'two lead', series: { [leads('b')]: '1x200' }, firing: { '3m': ['MirrorNoLeader'] } },
  {
    name: 'a handover takes a minute',
    series: { [leads('a')]: '1x10 0x190', [leads('b')]: '0x12 1x190' },
    firing: { '6m': [], '8m': [], '20m': [] },
  },
  {
    name: 'leadership goes to and fro',
    series: { [leads('a')]: '1x5 0x5 1x5 0x5 1x5 0x170', [leads('b')]: '0x5 1x5 0x5 1x5 0x5 1x170' },
    firing: { '10m': [], '20m': ['MirrorLeaderFlapping'], '99m': [] },
  },
  {
    name: 'a watch falls silent',
    series: { [activity('a', 'configmaps')]: '0+30x20 600x180' },
    firing: { '14m': [], '17m': ['MirrorWatchStale'] },
  },
  {
    name: 'a source is not in sync',
    series: { [unsynced('a')]: '0+30x200' },
    firing: { '10m': [], '12m': ['MirrorUnsynced'] },
  },
  {
    name: 'a standby takes a conflict for a missing companion',
    series: { [unsynced('b')]: '0+30x200' },
    firing: { '12m': [], '60m': [] },
  },
  {
    name: 'a third of the writes fail',
    series: { [writes('failed')]: '0+10x200' },
    firing: { '5m': [], '25m': ['MirrorWritesFailing'] },
  },
  {
    name: 'one write in thirty fails',
    series: { [writes('failed')]: '0+1x200', [writes('ok')]: '0+30x200' },
    firing: { '25m': [], '60m': [] },
  },
  { name: 'a worker hangs', series: { [STUCK]: '0+30x200' }, firing: { '3m': [], '6m': ['MirrorStuck'] } },
  {
    name: 'the freshness canary does not come through',
    series: { [CANARY + pod('a')]: '0+30x20 600x180' },
    firing: { '12m': [], '15m': ['MirrorFreshnessLost'] },
  },
  {
    name: 'another replica takes the canary over',
    series: { [CANARY + pod('a')]: '0+30x20 600x180', [CANARY + pod('b')]: '0x21 630+30x180' },
    firing: { '15m': [], '60m': [] },
  },
  {
    name: 'the canary never comes through, as when two replicas have just started',
    series: { [CANARY + pod('a')]: '0x200' },
    firing: { '1m': [], '4m': ['MirrorFreshnessLost'], '60m': ['MirrorFreshnessLost'] },
  },
  {
    name: 'the leader is gone, and a standby of long ago takes the canary over',
    series: { [CANARY + pod('a')]: '0+30x20 stale', [CANARY + pod('b')]: '0x23 690+30x180' },
    firing: { '11m': [], '13m': [], '60m': [] },
  },
  {
    name: 'the canary is off',
    series: { [CANARY + pod('a')]: 'stale', [CANARY + pod('b')]: 'stale' },
    firing: { '15m': [], '60m': [] },
  },
  {
    name: 'somebody fights for a companion',
    series: { [FIGHTS]: '0x20 1x180' },
    firing: { '10m': [], '12m': ['MirrorFight'], '40m': [] },
  },
  {
    name: 'the brake holds deletions',
    series: { [deletesHeld('a')]: '0x20 30x180', [deletesHeld('b')]: '0x20 30x180' },
    firing: { '10m': [], '12m': ['MirrorDeletesHeld'], '90m': ['MirrorDeletesHeld'] },
  },
  {
    name: 'a canary fails, and somebody changes the source after a while',
    series: { [canaryFailed('a')]: '0x20 1x100 0x80', [canaryFailed('b')]: '0x20 1x100 0x80' },
    firing: { '10m': [], '12m': ['MirrorCanaryFailed'], '70m': [] },
  },
  {
    name: 'names are taken by others',
    series: { [conflicts('a')]: '0x20 3x180', [conflicts('b')]: '0x20 3x180' },
    firing: { '20m': [], '26m': ['MirrorConflicts'] },
  },
  {
    name: 'annotations are invalid',
    series: { [invalid('a')]: '0x20 2x180' },
    firing: { '20m': [], '26m': ['MirrorInvalidSources'] },
  },
  {
    name: 'a sink takes nothing',
    series: { [pending('ops')]: '0+30x200' },
    firing: { '15m': [], '22m': ['MirrorNotifyStuck'] },
  },
  {
    name: 'a sink comes back after ten minutes',
    series: { [pending('ops')]: '0+30x20 0x180' },
    firing: { '12m': [], '40m': [] },
  },
];
