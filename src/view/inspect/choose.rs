//! Which objects there are to inspect, which one to begin with, and which object of the other lane
//! stands for one of this.

use crate::api::{Kind, Object, ObjectKey};
use crate::scenario::Run;
use crate::world::{LaneId, Verdict, World};

/// Objects to choose from at most.
const CHOICES_MAX: usize = 400;

/// The objects that are worth a look, by kind and name: no Events, no leases, nothing that every
/// cluster has.
pub fn choices(world: &World) -> Vec<ObjectKey> {
    let mut all: Vec<&std::sync::Arc<Object>> =
        world.store().all().filter(|object| is_offered(object)).collect();
    // What people write stands before what is made of it, and that before machines.
    all.sort_by_key(|object| place_of(object));
    all.into_iter().take(CHOICES_MAX).map(|object| object.key()).collect()
}

fn is_offered(object: &Object) -> bool {
    let meta = object.meta();
    let of_the_system = &*meta.namespace == "kube-system"
        || object.kind() == Kind::Namespace
            && (meta.name.starts_with("kube-") || &*meta.name == "default")
        || object.kind() == Kind::PriorityClass && meta.name.starts_with("system-");
    !of_the_system && !matches!(object.kind(), Kind::Event | Kind::Lease | Kind::ControllerRevision)
}

fn place_of(object: &Object) -> u8 {
    match (object.kind(), object.meta().controller()) {
        (Kind::Node, _) => 3,
        (Kind::Pod, _) => 2,
        (_, Some(_)) => 1,
        (_, None) => 0,
    }
}

/// What to look at first: what keeps a lane from being as it should be; else what a line wrote last
/// and is still there; else the first that is offered.
pub fn first(run: &Run) -> Option<(LaneId, ObjectKey)> {
    let mut short = run.lanes().iter();
    if let Some(found) = short.find_map(|lane| Some((lane.id, short_of(&run.verdict(lane.id))?))) {
        return Some(found);
    }
    let lane = run.lane(LaneId::Level).or(run.lanes().first())?;
    let store = lane.world.store();
    let by_hand = store.newest_first().filter(|commit| commit.by.starts_with("kubectl"));
    let mut written = by_hand.map(|commit| commit.object());
    let there =
        |object: &&std::sync::Arc<Object>| is_offered(object) && store.get(&object.key()).is_some();
    let found = written.find(there).map(|object| object.key());
    Some((lane.id, found.or_else(|| choices(&lane.world).into_iter().next())?))
}

/// What to look at when a lane is not as it should be: the first object that the verdict names.
pub fn short_of(verdict: &Verdict) -> Option<ObjectKey> {
    match verdict {
        Verdict::Stuck { short, .. } | Verdict::Waiting { short, .. } => {
            short.first().map(|short| short.object.clone())
        }
        Verdict::Oscillating { object, .. } => Some(object.clone()),
        Verdict::Converged | Verdict::Converging => None,
    }
}

/// The object of `other` that stands for the one of this key: that of the same name, or else the
/// one at the same place among those of the same owner. True: it has another name.
pub fn counterpart(world: &World, other: &World, key: &ObjectKey) -> Option<(ObjectKey, bool)> {
    if other.store().get(key).is_some() {
        return Some((key.clone(), false));
    }
    let object = world.store().get(key)?;
    let owner = object.meta().controller()?;
    let siblings = |world: &World| {
        let all = world.store().list(key.kind).filter(|object| {
            let theirs = object.meta().controller();
            object.meta().namespace == key.namespace
                && theirs.is_some_and(|own| own.kind == owner.kind && own.name == owner.name)
        });
        let mut all: Vec<(u64, ObjectKey)> =
            all.map(|object| (age(object), object.key())).collect();
        all.sort();
        all.into_iter().map(|(_, key)| key).collect::<Vec<_>>()
    };
    let mine = siblings(world);
    // Those that both have stand for themselves.
    let alone = |keys: Vec<ObjectKey>, there: &World| {
        let left = keys.into_iter().filter(|key| there.store().get(key).is_none());
        left.collect::<Vec<_>>()
    };
    let at = alone(mine, other).iter().position(|one| one == key)?;
    let found = alone(siblings(other), world).into_iter().nth(at)?;
    Some((found, true))
}

fn age(object: &Object) -> u64 {
    object.meta().creation_timestamp.map_or(0, |at| at.to_time().as_nanos())
}
