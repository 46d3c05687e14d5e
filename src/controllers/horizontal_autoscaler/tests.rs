use serde_json::json;

use super::*;
use crate::api::Value;
use crate::client::Cache;
use crate::controllers::ChangeKind;

fn object(kind: Kind, value: Value) -> Arc<Object> {
    Arc::new(Object::from_value(kind, value).unwrap())
}

fn deployment(replicas: i32) -> Arc<Object> {
    object(
        Kind::Deployment,
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
        }}),
    )
}

fn hpa(min: i32, max: i32) -> Arc<Object> {
    let target = json!({"type": "Utilization", "averageUtilization": 50});
    object(
        Kind::HorizontalPodAutoscaler,
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": min, "maxReplicas": max,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        }}),
    )
}

fn pod(name: &str) -> Arc<Object> {
    object(
        Kind::Pod,
        json!({
            "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]},
            "status": {
                "phase": "Running", "startTime": "2025-01-01T00:00:00Z",
                "conditions": [{"type": "Ready", "status": "True",
                                "lastTransitionTime": "2025-01-01T00:00:00Z"}],
            },
        }),
    )
}

fn list(cpu: &[(&str, &str)]) -> Arc<Object> {
    let items: Vec<Value> = cpu
        .iter()
        .map(|(name, cpu)| {
            json!({
                "metadata": {"name": name, "labels": {"app": "web"}},
                "timestamp": "2026-01-01T00:00:00Z", "window": "15s",
                "containers": [{"name": "c", "usage": {"cpu": cpu}}],
            })
        })
        .collect();
    let metadata = json!({"name": "web", "namespace": "default"});
    object(Kind::PodMetrics, json!({"metadata": metadata, "items": items}))
}

fn told(object: &Arc<Object>, before: Option<&Arc<Object>>) -> Change {
    let kind = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Added };
    Change { kind, before: before.cloned(), object: object.clone() }
}

fn scaled_to(plan: &Plan) -> Option<i64> {
    let mut patches = plan.batches.iter().flatten().filter_map(|intent| match &intent.request {
        Request::Patch(Part::Scale, _, patch) => patch.pointer("/spec/replicas")?.as_i64(),
        _ => None,
    });
    patches.next_back()
}

fn cx(cache: &Cache, seconds: u64) -> Context<'_> {
    Context { cache, now: Time::from_secs(seconds), seed: 1, promises_kept: true }
}

#[test]
fn a_new_autoscaler_is_first_looked_at_a_period_later() {
    let mut controller = HorizontalAutoscaler::default();
    let woken = controller.wakes(&told(&hpa(1, 5), None));
    assert_eq!(woken.later, [(hpa(1, 5).key(), PERIOD)]);
    assert!(controller.wakes(&told(&pod("a"), None)).later.is_empty());
}

#[test]
fn a_pass_reads_before_it_decides() {
    let mut controller = HorizontalAutoscaler::default();
    let (hpa, deployment) = (hpa(1, 5), deployment(1));
    let cache = Cache::of([hpa.as_ref().clone(), pod("a").as_ref().clone()]);
    let key = hpa.key();
    let first = controller.sync(&key, &cx(&cache, 20));
    assert!(first.goes_on && first.upkeep);
    for intent in first.batches.iter().flatten() {
        let answer = match intent.request.key().kind {
            Kind::PodMetrics => list(&[("a", "200m")]),
            _ => deployment.clone(),
        };
        controller.answered(&key, &intent.request, &Ok(answer));
    }
    let second = controller.sync(&key, &cx(&cache, 20));
    assert_eq!(scaled_to(&second), Some(4));
    assert_eq!(second.requeue_after, Some(PERIOD));
}

#[test]
fn a_completed_pod_with_the_same_labels_and_no_request_blocks_everything() {
    let mut completed = pod("test").as_ref().clone();
    if let Object::Pod(pod) = &mut completed {
        pod.status.phase = Some(crate::api::PodPhase::Succeeded);
        pod.spec.containers[0].resources = Default::default();
        pod.spec.containers[0].name = "t".into();
    }
    let (hpa, readings) = (hpa(1, 5), Readings::of_list(&list(&[("a", "200m")])));
    let spec = Spec::read(hpa.as_generic().unwrap());
    let pods = [pod("a").as_ref().clone(), completed];
    let input = Input {
        object: &hpa,
        spec: &spec,
        scale: Scale::of(&deployment(2)).ok_or_else(String::new),
        pods: pods.iter().filter_map(|pod| pod.as_pod()).collect(),
        rivals: Vec::new(),
        readings: &readings,
        start_up: StartUp::default(),
        now: Time::from_secs(100),
    };
    let plan = decide(&input, &mut History::default()).plan(&input);
    let told: Vec<(&str, &str)> =
        plan.events.iter().map(|note| (&*note.reason, note.message.as_str())).collect();
    let missing =
        "failed to get cpu utilization: missing request for cpu in container t of Pod test";
    assert_eq!(told[0], ("FailedGetResourceMetric", missing));
    assert_eq!(told[1].0, "FailedComputeMetricsReplicas");
    assert!(plan.batches.is_empty() && plan.error.is_some());
}

#[test]
fn edge_acts_on_a_metric_that_changed_and_believes_its_own_size() {
    let mut controller = HorizontalAutoscaler::default();
    let (hpa, deployment_one) = (hpa(1, 8), deployment(1));
    let objects = [&hpa, &deployment_one, &pod("a")].map(|object| object.as_ref().clone());
    let mut cache = Cache::of(objects);
    controller.on_change(&told(&hpa, None), &cx(&cache, 1));
    let plan = controller.on_change(&told(&list(&[("a", "200m")]), None), &cx(&cache, 20));
    assert_eq!(scaled_to(&plan), Some(4));
    let request = &plan.batches[0][0].request;
    controller.answered(&hpa.key(), request, &Ok(deployment(4)));
    // Its own write comes back: nothing to do.
    cache.put(deployment(4));
    let plan = controller.on_change(&told(&deployment(4), Some(&deployment_one)), &cx(&cache, 21));
    assert!(plan.batches.is_empty() && plan.finish.is_none());
    // Somebody else's does not come back unanswered.
    cache.put(deployment(9));
    let plan = controller.on_change(&told(&deployment(9), Some(&deployment(4))), &cx(&cache, 22));
    assert_eq!(scaled_to(&plan), Some(8));
}

#[test]
fn edge_waits_for_the_stabilization_window_by_a_timer_of_its_own() {
    let mut controller = HorizontalAutoscaler::default();
    let hpa = hpa(1, 8);
    let pods: Vec<Arc<Object>> = ["a", "b", "c", "d"].iter().map(|name| pod(name)).collect();
    let mut cache = Cache::of([hpa.as_ref().clone(), deployment(4).as_ref().clone()]);
    pods.iter().for_each(|pod| _ = cache.put(pod.clone()));
    let low = [("a", "10m"), ("b", "10m"), ("c", "10m"), ("d", "10m")];
    controller.on_change(&told(&hpa, None), &cx(&cache, 1));
    let plan = controller.on_change(&told(&list(&low), None), &cx(&cache, 20));
    assert_eq!((scaled_to(&plan), plan.requeue_after), (None, Some(PERIOD)));
    let plan = controller.on_timer(&hpa.key(), &cx(&cache, 400));
    assert_eq!(scaled_to(&plan), Some(1));
}

#[test]
fn one_that_was_seen_before_and_wished_for_nothing_is_not_held_to_its_size() {
    use crate::kernel::Time;

    let mut new = history::History::default();
    new.begin(5, Time::from_secs(100));
    assert_eq!(new.stabilize(3, 300, Time::from_secs(101)), 5);
    let mut known = history::History { begun: true, ..history::History::default() };
    known.begin(5, Time::from_secs(100));
    assert_eq!(known.stabilize(3, 300, Time::from_secs(101)), 3);
}

#[test]
fn a_size_that_only_an_earlier_wish_asks_for_has_no_metric_as_its_reason() {
    use crate::kernel::Time;

    let object = hpa(1, 10);
    let spec = Spec::read(object.as_generic().unwrap());
    let pods = ["a", "b", "c", "d"].map(pod);
    let usage = list(&[("a", "50m"), ("b", "50m"), ("c", "50m"), ("d", "50m")]);
    let readings = Readings::of_list(&usage);
    let selector = serde_json::from_value(json!({"matchLabels": {"app": "web"}})).unwrap();
    let now = Time::from_secs(100_000);
    let input = Input {
        object: &object,
        spec: &spec,
        scale: Ok(Scale { spec: 4, status: 4, selector }),
        pods: pods.iter().filter_map(|pod| pod.as_pod()).collect(),
        rivals: Vec::new(),
        readings: &readings,
        start_up: StartUp::default(),
        now,
    };
    let past = Recommendation { replicas: 8, at: now - std::time::Duration::from_secs(60) };
    let mut history = History { begun: true, recommendations: vec![past], ..History::default() };
    let decision = decide(&input, &mut history);
    assert_eq!((decision.desired, decision.rescale.as_deref()), (8, Some("")));
}

/// An autoscaler of another name, for the same target.
fn twin(name: &str) -> Arc<Object> {
    let mut object = hpa(1, 8).as_ref().clone();
    object.meta_mut().name = name.into();
    Arc::new(object)
}

/// A level-triggered pass: what is read is answered, then it decides.
fn pass(controller: &mut HorizontalAutoscaler, hpa: &Arc<Object>, cache: &Cache) -> Plan {
    let key = hpa.key();
    let reads = controller.sync(&key, &cx(cache, 5));
    for intent in &reads.batches[0] {
        let answer = match intent.request.kind() {
            Kind::PodMetrics => list(&[("a", "200m")]),
            _ => cache.get(&ObjectKey::new(Kind::Deployment, "default", "web")).unwrap().clone(),
        };
        controller.answered(&key, &intent.request, &Ok(answer));
    }
    controller.sync(&key, &cx(cache, 5))
}

fn scaling_active(plan: &Plan) -> (String, String) {
    let after = &plan.finish.as_ref().expect("a status").after;
    let conditions: Vec<crate::api::Condition> =
        after.as_generic().and_then(|own| own.typed("status/conditions")).expect("conditions");
    let found = crate::api::Condition::find(&conditions, "ScalingActive").expect("it is there");
    let text = |field: &Option<crate::api::Str>| field.as_deref().unwrap_or_default().to_string();
    (text(&found.reason), text(&found.message))
}

#[test]
fn pods_that_two_autoscalers_count_are_scaled_by_neither_once_each_knows_of_the_other() {
    let (one, other) = (twin("one"), twin("other"));
    let objects = [&one, &other, &deployment(1), &pod("a")];
    let cache = Cache::of(objects.map(|object| object.as_ref().clone()));
    let mut controller = HorizontalAutoscaler::default();
    let first = pass(&mut controller, &one, &cache);
    assert_eq!(scaled_to(&first), Some(4), "it has not seen the other yet");
    let text = "pods by selector app=web are controlled by multiple HPAs: [default/one \
        default/other]";
    for hpa in [&other, &one] {
        let plan = pass(&mut controller, hpa, &cache);
        assert_eq!(scaled_to(&plan), None);
        assert_eq!(scaling_active(&plan), ("AmbiguousSelector".into(), text.into()));
        let told: Vec<_> = plan.events.iter().map(|note| (&*note.reason, &*note.message)).collect();
        assert_eq!(told, [("AmbiguousSelector", text), ("FailedComputeMetricsReplicas", text)]);
    }
    let mut cache = cache;
    cache.remove(&other.key());
    controller.sync(&other.key(), &cx(&cache, 6));
    assert_eq!(scaled_to(&pass(&mut controller, &one, &cache)), Some(4), "the other is gone");
}

#[test]
fn a_scale_without_a_selector_says_nothing_of_pods() {
    let (hpa, readings) = (hpa(1, 5), Readings::default());
    let spec = Spec::read(hpa.as_generic().unwrap());
    let input = Input {
        object: &hpa,
        spec: &spec,
        scale: Ok(Scale { spec: 2, status: 2, ..Scale::default() }),
        pods: Vec::new(),
        rivals: Vec::new(),
        readings: &readings,
        start_up: StartUp::default(),
        now: Time::from_secs(100),
    };
    let plan = decide(&input, &mut History::default()).plan(&input);
    let text = "the HPA target's scale is missing a selector";
    assert_eq!(scaling_active(&plan), ("InvalidSelector".into(), text.into()));
    let told: Vec<_> = plan.events.iter().map(|note| (&*note.reason, &*note.message)).collect();
    let error = "selector is required";
    assert_eq!(told, [("SelectorRequired", error), ("FailedComputeMetricsReplicas", error)]);
}
