use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{Kind, Object, ObjectKey, custom};
use crate::apiserver::{ApiServer, DeleteOptions, Part, Patch, PatchRequest, Request, Response};
use crate::kernel::Time;

fn definition(subresources: Value) -> Value {
    let spec = json!({
        "type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1},
            "color": {"type": "string", "default": "blue"},
        },
    });
    let status = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": subresources,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

fn send(server: &mut ApiServer, request: Request) -> Response {
    server.handle(&request, Time::from_secs(1))
}

fn create(server: &mut ApiServer, kind: Kind, value: Value) -> Response {
    let object = Object::from_value(kind, value).unwrap();
    send(server, Request::Create(Arc::new(object)))
}

fn defined(subresources: Value) -> (ApiServer, Kind) {
    let mut server = ApiServer::new(1);
    let kind = Kind::CustomResourceDefinition;
    let made = create(&mut server, kind, definition(subresources)).unwrap();
    let kind = super::kind_of(made.as_generic().unwrap()).unwrap();
    (server, kind)
}

fn widget(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

#[test]
fn a_definition_is_established_and_its_names_are_known() {
    let (server, kind) = defined(json!({}));
    let key = ObjectKey::new(Kind::CustomResourceDefinition, "", "widgets.example.com");
    let status = server.store().get(&key).unwrap().to_value()["status"].clone();
    let words: Vec<_> = status["conditions"].as_array().unwrap().iter().collect();
    assert_eq!(words[0]["type"], "NamesAccepted");
    assert_eq!(words[1]["type"], "Established");
    assert!(words.iter().all(|one| one["status"] == "True"));
    assert_eq!(status["acceptedNames"]["listKind"], "WidgetList");
    assert_eq!(status["storedVersions"], json!(["v1"]));
    let kinds = super::served(server.store().list(Kind::CustomResourceDefinition));
    custom::serving(kinds, || {
        for word in ["widgets", "widget", "wd", "widgets.example.com", "widgets.v1.example.com"] {
            assert_eq!(Kind::of_argument(word), Some(kind), "{word}");
        }
        assert_eq!(Kind::of_manifest("example.com/v1", "Widget"), Some(kind));
        assert_eq!(Kind::of_manifest("example.com/v2", "Widget"), None);
    });
    assert_eq!(Kind::of_argument("wd"), None);
    assert_eq!(kind.info().kind, "Widget");
}

#[test]
fn objects_are_pruned_defaulted_and_validated() {
    let (mut server, kind) = defined(json!({}));
    let made = create(&mut server, kind, widget("a", json!({"size": 2, "shape": "round"})));
    assert_eq!(made.unwrap().to_value()["spec"], json!({"size": 2, "color": "blue"}));
    let error = create(&mut server, kind, widget("b", json!({"size": 0}))).unwrap_err();
    assert_eq!(
        error.message,
        "Widget.example.com \"b\" is invalid: spec.size: Invalid value: 0: spec.size in body \
         should be greater than or equal to 1"
    );
    let error = create(&mut server, kind, widget("b", json!({}))).unwrap_err();
    assert_eq!(error.message, "Widget.example.com \"b\" is invalid: spec.size: Required value");
    let error = send(&mut server, Request::Get(ObjectKey::new(kind, "default", "b"))).unwrap_err();
    assert_eq!(error.message, "widgets.example.com \"b\" not found");
}

#[test]
fn status_and_scale_are_written_apart_where_the_definition_says_so() {
    let scale = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    let (mut server, kind) = defined(json!({"status": {}, "scale": scale}));
    create(&mut server, kind, widget("a", json!({"size": 1}))).unwrap();
    let key = ObjectKey::new(kind, "default", "a");
    let mut patch = |part, patch| {
        let request = Request::Patch(part, key.clone(), patch);
        send(&mut server, request).map(|object| object.to_value()).map_err(|e| e.message)
    };
    let both = json!({"spec": {"size": 2}, "status": {"phase": "Ready"}});
    let after = patch(Part::Main, both.clone()).unwrap();
    assert_eq!((&after["spec"]["size"], after.get("status")), (&json!(2), None));
    assert_eq!(after["metadata"]["generation"], 2);
    let after = patch(Part::Status, json!({"spec": {"size": 9}, "status": {"phase": "Ready"}}));
    let after = after.unwrap();
    assert_eq!(after["spec"]["size"], 2);
    assert_eq!(after["status"]["phase"], "Ready");
    assert_eq!(after["metadata"]["generation"], 2);
    let after = patch(Part::Scale, json!({"spec": {"size": 5, "color": "red"}})).unwrap();
    assert_eq!(after["spec"], json!({"size": 5, "color": "blue"}));

    let (mut server, kind) = defined(json!({}));
    create(&mut server, kind, widget("a", json!({"size": 1}))).unwrap();
    let after = send(&mut server, Request::Patch(Part::Main, key, both)).unwrap().to_value();
    assert_eq!(after["status"]["phase"], "Ready");
}

#[test]
fn a_strategic_merge_patch_is_for_kubernetes_own_kinds() {
    let (mut server, kind) = defined(json!({}));
    create(&mut server, kind, widget("a", json!({"size": 1}))).unwrap();
    let mut patch = |patch: fn(Value) -> Patch| {
        let key = ObjectKey::new(kind, "default", "a");
        let patch = patch(json!({"spec": {"size": 2}}));
        let request = PatchRequest { part: Part::Main, key, patch };
        send(&mut server, Request::PatchWith(Box::new(request)))
    };
    let refused = patch(Patch::Strategic).unwrap_err();
    assert_eq!((refused.reason.code(), refused.reason.word()), (415, "UnsupportedMediaType"));
    assert!(refused.message.contains("accepted media types include"), "{refused}");
    assert_eq!(patch(Patch::Merge).unwrap().to_value()["spec"]["size"], 2);
}

#[test]
fn a_definition_takes_its_objects_along() {
    let (mut server, kind) = defined(json!({}));
    create(&mut server, kind, widget("a", json!({"size": 1}))).unwrap();
    let mut held = widget("b", json!({"size": 1}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&mut server, kind, held).unwrap();
    let key = ObjectKey::new(Kind::CustomResourceDefinition, "", "widgets.example.com");
    send(&mut server, Request::Delete(key.clone(), DeleteOptions::default())).unwrap();
    assert_eq!(server.store().list(kind).count(), 1);
    let error = create(&mut server, kind, widget("c", json!({"size": 1}))).unwrap_err();
    assert_eq!(error.message, "create not allowed while custom resource definition is terminating");
    let free = json!({"metadata": {"finalizers": null}});
    let object = ObjectKey::new(kind, "default", "b");
    send(&mut server, Request::Patch(Part::Main, object, free)).unwrap();
    assert!(server.store().get(&key).is_none());
    let error = create(&mut server, kind, widget("c", json!({"size": 1}))).unwrap_err();
    assert_eq!(error.message, "the server could not find the requested resource");
}

#[test]
fn names_that_are_taken_are_not_accepted() {
    let (mut server, _) = defined(json!({}));
    let mut second = definition(json!({}));
    second["metadata"]["name"] = "gadgets.example.com".into();
    second["spec"]["names"] = json!({"plural": "gadgets", "kind": "Widget"});
    let kind = Kind::CustomResourceDefinition;
    let made = create(&mut server, kind, second).unwrap();
    let conditions = made.to_value()["status"]["conditions"].clone();
    assert_eq!(conditions[0]["reason"], "SingularConflict");
    assert_eq!(conditions[1]["status"], "False");
    assert!(super::kind_of(made.as_generic().unwrap()).is_none());
}

#[test]
fn a_definition_that_is_wrong_is_refused() {
    let mut wrong = definition(json!({}));
    wrong["metadata"]["name"] = "widget.example.com".into();
    wrong["spec"]["versions"][0]["storage"] = false.into();
    wrong["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        ["size"] = json!({"minimum": 1});
    let mut server = ApiServer::new(1);
    let error = create(&mut server, Kind::CustomResourceDefinition, wrong).unwrap_err().message;
    for words in [
        "metadata.name: Invalid value: \"widget.example.com\": must be \
         spec.names.plural+\".\"+spec.group",
        "must have exactly one version marked as storage version",
        "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size].type: Required \
         value: must not be empty for specified object fields",
    ] {
        assert!(error.contains(words), "{error}");
    }
}
